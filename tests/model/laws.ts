import { attemptOf, DELIVERIES, isOfBroker, membersOf, storedOf, type DeliveryName } from './copies.ts';
import { isIdle, type Replica } from './replica.ts';
import { copyOf } from './rows.ts';
import type { World } from './world.ts';

/** Limits for one delivery that hold whatever happens. */
export type Limits = {
  retries: number;
  /** At most, with all faults there may be. */
  requests: number;
  /** Copies of one attempt on the line at the same time. */
  copies: number;
  /** Deliveries that may be rejected. */
  rejectable: readonly DeliveryName[];
};

const SUSPECT_CRASHES = 5;

/** Whether nothing is on the line any more. */
export function isAtRest({ waiting, rows, unheard, publications, replicas }: World): boolean {
  return waiting.length + rows.length + unheard.length + publications.length === 0 && replicas.every(isIdle);
}

/** The first law that does not hold here, in words; undefined where all do. */
export function brokenLaw(world: World, limits: Limits): string | undefined {
  if (world.replicas.some(isHandlingSuspects)) return `handled after ${SUSPECT_CRASHES} crashes`;
  const wrong = world.replicas.find(({ broken }) => broken !== undefined);
  if (wrong !== undefined) return wrong.broken;
  const isResting = isAtRest(world);
  for (const delivery of deliveriesOf(world)) {
    const broken = brokenFor(world, delivery, limits) ?? (isResting ? incomplete(world, delivery) : undefined);
    if (broken !== undefined) return `${broken} (delivery ${delivery})`;
  }
  return undefined;
}

export function deliveriesOf({ requests }: World): DeliveryName[] {
  return DELIVERIES.filter((delivery) => delivery in requests);
}

function brokenFor(world: World, delivery: DeliveryName, limits: Limits): string | undefined {
  const { attempts, copies, requests } = figures(world, delivery);
  const { hasEnded, isRejected, isSetAside } = toldOf(world, delivery);
  if (attempts.length === 0 && !hasEnded) return 'lost: no copy is left, and no end was recorded';
  if (attempts.some((attempt) => attempt > limits.retries + 1)) return 'an attempt beyond the schedule';
  if (requests > limits.requests) return `more than ${limits.requests} requests`;
  if (copies > limits.copies) return `more than ${limits.copies} copies of one attempt`;
  return (isRejected || isSetAside) && !limits.rejectable.includes(delivery) ? 'rejected without reason' : undefined;
}

function isHandlingSuspects({ state }: Replica): boolean {
  const members = [...state.members.values()];
  return members.some(({ purpose, message }) => purpose === 'handle' && (message.crashes ?? 0) >= SUSPECT_CRASHES);
}

/** Returns the counts of a delivery at this moment. */
export function figures(
  world: World,
  delivery: DeliveryName,
): { attempts: number[]; copies: number; requests: number } {
  const inHand = world.replicas.flatMap(({ held }) => [...held.values()]).filter(isOfBroker);
  const toSend = world.publications.flatMap((publication) => storedOf(publication).copies);
  const inRoom = world.rows.map(({ what }) => copyOf(what, 0));
  const own = [...world.waiting, ...inHand, ...toSend, ...inRoom]
    .flatMap(({ message }) => membersOf(message))
    .map(attemptOf)
    .filter((each) => each.delivery === delivery);
  const attempts = own.map(({ attempt }) => attempt);
  const byAttempt = Map.groupBy(attempts, (attempt) => attempt);
  return {
    attempts,
    copies: Math.max(0, ...[...byAttempt.values()].map((same) => same.length)),
    requests: world.requests[delivery] ?? 0,
  };
}

/** At rest, there is a record of every attempt up to the last; and what is rejected is in its queue and on record. */
function incomplete(world: World, delivery: DeliveryName): string | undefined {
  const { attempts, isRejected, isSetAside } = toldOf(world, delivery);
  const last = Math.max(0, ...attempts);
  if (attempts.length < last) return `records of ${attempts.length} of ${last} attempts`;
  return isRejected === isSetAside ? undefined : 'rejected by half';
}

/** Returns the records of a delivery. */
function toldOf({ records, publications }: World, delivery: DeliveryName) {
  const all = new Set([...records, ...publications.flatMap((publication) => storedOf(publication).records)]);
  const told = [...all].filter((record) => record.startsWith(delivery)).map((record) => record.slice(2));
  const isRejected = told.includes('rejected');
  return {
    attempts: told.map(Number).filter((attempt) => attempt > 0),
    hasEnded: isRejected || told.includes('ended'),
    isRejected,
    isSetAside: told.includes('in the rejected queue'),
  };
}
