import { type DeliveryName, OTHER_STEP, PARTS } from './copies.ts';
import { explore, type Exploration } from './explore.ts';
import { readDeliverer, type AnswerKind, type Deliverer } from './deliverer.ts';
import type { FaultKind } from './setting.ts';
import { publishDelivery } from '@waybell/line/delivery';

/** The replicas, what may go wrong how often, and how much of it there may be of one delivery. */
export type Row = {
  deliveries?: number;
  retries?: number;
  replicas?: number;
  isBatched?: boolean;
  isSlow?: boolean;
  /** A router handles messages: events in two parts. */
  isRouted?: boolean;
  /** Publications may wait in a room if the broker does not take them. */
  hasRooms?: boolean;
  isBesideSuspect?: boolean;
  killers?: readonly DeliveryName[];
  faults: number;
  kinds: readonly FaultKind[];
  answers?: readonly AnswerKind[];
  rejectable?: readonly DeliveryName[];
  requests: number;
  copies: number;
};

export const EVERY_FAULT: readonly FaultKind[] = [
  ...(['crash', 'cut', 'cut one', 'closing', 'refused', 'unconfirmed', 'returned', 'stalled', 'blocked'] as const),
  ...(['expired twice', 'redis away', 'redis forgets', 'throws', 'throws for all', 'outage'] as const),
];
/** All else that can go wrong with what waits in rooms. */
export const EVERY_FAULT_OF_ROOMS: readonly FaultKind[] = ['claim lost', 'late', 'postgres away', 'commit unheard'];

export async function exploreRow(row: Row): Promise<Exploration> {
  const { deliveries = 1, retries = 1, replicas = 1, answers = ['delivered', 'failed'], rejectable = [] } = row;
  const { isBatched = false, isSlow = false, isBesideSuspect = false, killers = ['A'] } = row;
  const { kinds: faultKinds, faults: faultLimit, isRouted = false, hasRooms = true } = row;
  const real = await readDeliverer({ retries });
  const deliverer = isRouted ? routerFrom(real) : real;
  const rules = { ...deliverer.rules, hasRooms };
  const who = { deliverer, rules, deliveries, replicas, isBatched, isSlow, isBesideSuspect, killers };
  const setting = { ...who, answers, faultKinds, faultLimit };
  return explore(setting, { retries, requests: row.requests, copies: row.copies, rejectable });
}

/**
 * A router in the deliverer's place: what is delivered there is an event here, with a delivery for another step in each of two parts.
 * They count as its second and third attempt, and its record as that of its first.
 */
function routerFrom({ rules, handled }: Deliverer): Deliverer {
  return {
    rules,
    handled: (event) => {
      const { caused } = handled(event, 'failed');
      const records = Array.isArray(caused) ? caused.filter(({ kind }) => kind === 'outcome') : [];
      const parts = PARTS.map((attempt) => [{ ...publishDelivery({ ...event, attempt }), exchange: OTHER_STEP }]);
      return { requests: 1, caused: { parts: [...parts, records] } };
    },
  };
}
