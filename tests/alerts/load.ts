import { Load } from '../testing/load.ts';
import { subscribed, type Subscribed, type Subscriber } from '../testing/subscribers.ts';
import type { Scene } from './scene.ts';

type Wanted = Partial<Subscriber> & { eventsPerSecond?: number };

/** Events of one party, at an even rate, until it is stopped. */
export type Flow = { party: Subscribed; stop: () => Promise<void> };

const WELL = {
  interface: 'shipper',
  action: 'order.paid',
  folder: '/alerts',
  answers: Array.from({ length: 6 }, () => 200),
} as const;

/** Publishes events of a new party until it is stopped, or its cause is over, whatever becomes of them. */
export async function flow(scene: Scene, { eventsPerSecond = 20, ...wanted }: Wanted = {}): Promise<Flow> {
  const party = await subscribed(scene, { ...WELL, ...wanted });
  const ledger = { publish: () => scene.stack.upstream.publishUntilConfirmed(party.anEvent()) };
  const load = new Load({ ledger, parties: [party], eventsPerSecond });
  scene.loads.add(load);
  return { party, stop: () => load.stop() };
}
