import waybell = require('@waybell/publisher');

const guid = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';
const event: waybell.EventInput = {
  guid,
  interface: 'carrier',
  action: 'order.updated',
  occurred_at: new Date(0),
  parties: { carrier: guid },
  payload: { id: 12345678901234567890n, price: new waybell.JsonNumber('0.10') },
};
// @ts-expect-error its payload lacks the order
const wrong: waybell.EventInput = {
  interface: 'shipper',
  action: 'order.picked_up',
  parties: { shipper: guid },
  payload: {},
};

async function use(): Promise<void> {
  const publisher = waybell.createPublisher({ url: 'amqp://127.0.0.1:1' });
  const refused: unknown = await publisher.publish(wrong).catch((error: unknown) => error);
  await publisher.close();
  const place = refused instanceof waybell.InvalidEvent && refused.place;
  console.log('used', waybell.outboxEvent(event).values[0], place);
}

void use();
