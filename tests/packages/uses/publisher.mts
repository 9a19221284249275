import {
  createPublisher,
  InvalidEvent,
  JsonNumber,
  outboxEvent,
  type EventInput,
  type PublisherOptions,
} from '@waybell/publisher';

const guid = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';
const event: EventInput = {
  guid,
  interface: 'carrier',
  action: 'order.updated',
  occurred_at: new Date(0),
  parties: { carrier: guid },
  payload: { id: 12345678901234567890n, price: new JsonNumber('0.10') },
};
// @ts-expect-error its payload lacks the order
const wrong: EventInput = { interface: 'shipper', action: 'order.picked_up', parties: { shipper: guid }, payload: {} };

// As it is read from the environment: whatever is absent there is undefined.
const options: PublisherOptions = { url: process.env['AMQP_URL'], userId: process.env['AMQP_USER'], log: undefined };
const publisher = createPublisher({ ...options, url: 'amqp://127.0.0.1:1' });
const refused = await publisher.publish(wrong).catch((error: unknown) => error);
await publisher.close();
console.log('used', outboxEvent(event).values[0], refused instanceof InvalidEvent && refused.place);
