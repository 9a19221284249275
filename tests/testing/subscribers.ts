import { randomUUID } from 'node:crypto';
import { anEvent, type PublishedEvent } from './event.ts';
import type { Behaviour, Receiver } from './receiver.ts';
import type { TestStack } from './test-stack.ts';

/** Somebody that events are about, and who is to receive them. */
export type Party = { anEvent: () => PublishedEvent; subscriptions: string[] };

/** What events they hear of, by interface. */
export const ACTIONS = {
  shipper: ['order.picked_up', 'order.paid', 'order.booked', 'order.delivered'],
  carrier: ['order.created', 'order.assigned', 'order.delivered', 'damage.created'],
} as const;

/**
 * Integrators of both interfaces, ten each: one never answers with success, one only at the third attempt, one has two
 * clients, some take their time. And one account that nobody has heard of, and an upstream that leaves members out.
 */
export async function subscribers(stack: TestStack, receiver: Receiver): Promise<Party[]> {
  const each = (['shipper', 'carrier'] as const).flatMap((interfaceName) =>
    Array.from({ length: 10 }, (_, place) => subscriber({ stack, receiver, interfaceName, place })),
  );
  const stranger = () => anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: randomUUID() } });
  const careless = () =>
    anEvent({ interface: 'shipper', action: 'order.picked_up', parties: { shipper: randomUUID() }, payload: {} });
  return [
    ...(await Promise.all(each)),
    { anEvent: stranger, subscriptions: [] },
    { anEvent: careless, subscriptions: [] },
  ];
}

type Subscriber = { stack: TestStack; receiver: Receiver; interfaceName: 'shipper' | 'carrier'; place: number };

async function subscriber({ stack, receiver, interfaceName, place }: Subscriber): Promise<Party> {
  const action = ACTIONS[interfaceName][place % 4] ?? 'order.delivered';
  const first = await stack.client(interfaceName);
  const clients = place === 2 ? [first, await stack.clientOf(first.account, interfaceName, 'second')] : [first];
  const subscriptions = clients.map(async (client) => {
    const path = `/${interfaceName}/${place === 0 ? 'dead' : place}/${randomUUID()}/${action}`;
    receiver.answer(path, behaviour(place));
    await client.subscribe(action, receiver.url(path));
    return stack.subscriptionAt(receiver.url(path));
  });
  const parties = { [interfaceName]: first.account };
  return {
    anEvent: () => anEvent({ interface: interfaceName, action, parties }),
    subscriptions: await Promise.all(subscriptions),
  };
}

const SLOW_MS = 20;

function behaviour(place: number): Behaviour {
  if (place === 0) return 500;
  if (place === 1)
    return (response, { headers }) => response.writeHead(headers['x-webhook-attempt'] === '3' ? 200 : 503).end();
  if (place % 3 === 0) return (response) => void setTimeout(() => response.writeHead(200).end(), SLOW_MS);
  return 200;
}
