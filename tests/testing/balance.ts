import { isAttempted, type Outcome } from '@waybell/line/outcomes';

/** What an event owes one subscription; without one, that somebody says why nobody got it. */
export type Owed = {
  event: string;
  subscription?: string;
  /** Guid of the message, where there is to be one. */ delivery?: string;
};

/** A callback request as a receiver saw it. */
export type Seen = { delivery: string; attempt: number };

/** Everything that is known once the line has come to rest. */
export type Books = {
  owed: readonly Owed[];
  seen: readonly Seen[];
  outcomes: readonly Outcome[];
  /** Guids of events and deliveries in the rejected queue. */
  rejected: ReadonlySet<string>;
};

/** The five ends that there are; a sixth is lost. From the strongest: a delivery that ran twice may have two. */
export const ENDS = ['delivered', 'exhausted', 'dropped', 'suppressed', 'rejected'] as const;
export type End = (typeof ENDS)[number];

export type Balance = Record<End, number> & {
  /** In none of the five. */
  lost: Owed[];
  /** Requests beyond the first with the same `webhook-id` and attempt. */
  duplicates: number;
  /** Deliveries whose attempts are not 1, 2, … n. */
  withGap: string[];
  /** Deliveries with more than one attempt made twice: two chains of retries ran side by side. */
  forked: string[];
  /** Recorded as delivered, and no receiver saw them. */
  unseen: string[];
};

/** Sets what was owed against what became of it. */
export function balance({ owed, seen, outcomes, rejected }: Books): Balance {
  const ends = endsOf(outcomes, rejected);
  const sum = { delivered: 0, exhausted: 0, dropped: 0, suppressed: 0, rejected: 0 };
  const lost: Owed[] = [];
  for (const each of owed) {
    const end = endOf(each, ends);
    if (end === undefined) lost.push(each);
    else sum[end] += 1;
  }
  const attempts = attemptsOf(owed, seen, outcomes);
  const perDelivery = [...attempts];
  const which = (is: (of: Attempts, delivery: string) => boolean) =>
    perDelivery.filter(([delivery, of]) => is(of, delivery)).map(([delivery]) => delivery);
  return {
    ...sum,
    lost,
    duplicates: perDelivery.reduce((total, [, { requests }]) => total + extra(requests), 0),
    withGap: which(({ made }) => made.size !== Math.max(0, ...made)),
    forked: which(({ requests }) => [...requests.values()].filter((count) => count > 1).length > 1),
    unseen: which(({ requests }, delivery) => ends.get(delivery) === 'delivered' && requests.size === 0),
  };
}

/** Several balances as one. */
export function sumOf(balances: readonly Balance[]): Balance {
  return balances.reduce((sum, next) => ({
    delivered: sum.delivered + next.delivered,
    exhausted: sum.exhausted + next.exhausted,
    dropped: sum.dropped + next.dropped,
    suppressed: sum.suppressed + next.suppressed,
    rejected: sum.rejected + next.rejected,
    lost: [...sum.lost, ...next.lost],
    duplicates: sum.duplicates + next.duplicates,
    withGap: [...sum.withGap, ...next.withGap],
    forked: [...sum.forked, ...next.forked],
    unseen: [...sum.unseen, ...next.unseen],
  }));
}

/** The end of each, undefined where it has none yet. */
export function endOf({ event, delivery }: Owed, ends: ReadonlyMap<string, End>): End | undefined {
  return (delivery === undefined ? undefined : ends.get(delivery)) ?? ends.get(event);
}

/** By delivery, or by event where the end is the event's. */
export function endsOf(outcomes: readonly Outcome[], rejected: ReadonlySet<string>): Map<string, End> {
  const ends = new Map<string, End>([...rejected].map((guid) => [guid, 'rejected']));
  const end = (key: string, how: End) => {
    const known = ends.get(key);
    if (known === undefined || ENDS.indexOf(how) < ENDS.indexOf(known)) ends.set(key, how);
  };
  for (const outcome of outcomes) {
    // The rejected queue itself says what was rejected.
    if (outcome.kind === 'failed' || outcome.kind === 'rejected') continue;
    if (outcome.kind !== 'routed') end(outcome.delivery, outcome.kind);
    // "duplicate" says that this event was routed before: its end is what that routing led to.
    else if (outcome.deliveries.length === 0 && outcome.suppressed.some(({ reason }) => reason !== 'duplicate'))
      end(outcome.event, 'suppressed');
  }
  return ends;
}

type Attempts = { requests: Map<number, number>; made: Set<number> };

/** What was attempted, as receivers saw it and as outcomes say: not every attempt gets as far as a receiver. */
function attemptsOf(owed: Books['owed'], seen: Books['seen'], outcomes: Books['outcomes']): Map<string, Attempts> {
  const attempts = new Map<string, Attempts>();
  for (const { delivery } of owed)
    if (delivery !== undefined) attempts.set(delivery, { requests: new Map(), made: new Set() });
  for (const { delivery, attempt } of seen) {
    const of = attempts.get(delivery);
    of?.requests.set(attempt, (of.requests.get(attempt) ?? 0) + 1);
    of?.made.add(attempt);
  }
  for (const outcome of outcomes) {
    if (isAttempted(outcome) && outcome.kind !== 'dropped') attempts.get(outcome.delivery)?.made.add(outcome.attempt);
  }
  return attempts;
}

function extra(requests: Attempts['requests']): number {
  return [...requests.values()].reduce((total, count) => total + count - 1, 0);
}
