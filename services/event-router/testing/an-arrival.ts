import type { Message, Outgoing } from '@waybell/line/messages';
import {
  type ActiveSubscription,
  type FindSubscriptions,
  readArrival,
  routeEvents,
  type Arrival,
} from '../route-event.ts';

export const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
export const [SHIPPER, BROKER] = ['e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1', 'e2e2e2e2-e2e2-4e2e-8e2e-e2e2e2e2e2e2'];
export const [FIRST, SECOND] = ['51515151-5151-4515-8515-515151515151', '52525252-5252-4525-8525-525252525252'];
export const NOW = 1_700_000_000_000;

export const aSubscription = (what: Partial<ActiveSubscription> = {}): ActiveSubscription => ({
  guid: FIRST,
  client: 'default',
  generation: 2,
  auditFieldSet: null,
  isFeatureOn: true,
  ...what,
});

export function anArrival(what: object = {}, message: Partial<Message> = {}): Arrival {
  const event = {
    guid: GUID,
    interface: 'shipper',
    action: 'order.paid',
    occurred_at: '2026-11-20T09:30:00Z',
    parties: { shipper: SHIPPER },
    payload: { order_guid: GUID },
    ...what,
  };
  const read = readArrival({ maxBytes: 2 ** 20, maxDepth: 32 })({
    queue: 'waybell.events.router',
    exchange: 'waybell.events',
    routingKey: `${event.interface}.${event.action}`,
    body: Buffer.from(JSON.stringify(event)),
    deliveryCount: 0,
    failures: 0,
    ...message,
  });
  if ('kind' in read) throw new Error(read.detail);
  return read;
}

/** Finds the subscriptions of each account; those that are not named are known, and have none. */
export const finding =
  (subscribed: Record<string, ActiveSubscription[] | undefined>): FindSubscriptions =>
  async (events) =>
    events.map(({ receivers }) => receivers.map((account) => (account in subscribed ? subscribed[account] : [])));

export const router = (findSubscriptions: FindSubscriptions) => routeEvents({ findSubscriptions, now: () => NOW });

export const recordOf = (caused: readonly Outgoing[]) =>
  caused.flatMap((each) => (each.kind === 'outcome' ? [each.outcome] : []));
export const publishedOf = (caused: readonly Outgoing[]) =>
  caused.flatMap((each) => (each.kind === 'publish' ? [each] : []));
