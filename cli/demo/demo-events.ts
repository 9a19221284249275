import { randomUUID } from 'node:crypto';
import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import type { InterfaceName } from '@waybell/line/outcomes';
import { eventsExchange } from '@waybell/line/topology';

/**
 * An address of the built-in receiver: it answers at once; only at the third attempt of each delivery; never well. The
 * truck's is healthy too.
 */
export type Address = 'healthy' | 'flaky' | 'dead' | 'truck';

/** One subscription of the demo and one event for it. Each has an action of its own, by which it is known. */
export type DemoEvent = { interface: InterfaceName; action: string; address: Address; payload: () => object };

export const orderGuid = () => ({ order_guid: randomUUID() });

/** In the order in which they are published: the dead one early, because it takes the longest. */
export const demoEvents: readonly DemoEvent[] = [
  { interface: 'shipper', action: 'order.picked_up', address: 'healthy', payload: orderGuid },
  { interface: 'carrier', action: 'order.delivered', address: 'dead', payload: () => ({ id: 4711 }) },
  { interface: 'carrier', action: 'order.assigned', address: 'flaky', payload: () => ({ id: 4712 }) },
  {
    interface: 'carrier',
    action: 'order.created',
    address: 'healthy',
    payload: () => ({ id: 4713, status: 'new' }),
  },
  { interface: 'shipper', action: 'order.paid', address: 'flaky', payload: orderGuid },
  { interface: 'carrier', action: 'damage.created', address: 'healthy', payload: () => ({ id: 1, order_id: 4713 }) },
  { interface: 'shipper', action: 'order.delivered', address: 'healthy', payload: orderGuid },
];

type WrittenDemoEvent = { guid: string; routingKey: string; json: string };

/** An event as upstream would publish it, and the routing key that goes with it. */
export function writeEvent(
  { interface: interfaceName, action, payload }: Omit<DemoEvent, 'address'>,
  account: string,
): WrittenDemoEvent {
  const guid = randomUUID();
  const json = JSON.stringify({
    guid,
    interface: interfaceName,
    action,
    occurred_at: new Date().toISOString(),
    parties: { [interfaceName]: account },
    payload: payload(),
  });
  return { guid, routingKey: `${interfaceName}.${action}`, json };
}

export async function publishEvent(
  line: CommandPublisher,
  { guid, routingKey, json }: WrittenDemoEvent,
): Promise<void> {
  await line.publish({
    kind: 'publish',
    exchange: eventsExchange,
    routingKey,
    body: Buffer.from(json),
    messageId: guid,
    contentType: 'application/json',
  });
}
