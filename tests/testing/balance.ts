import { isAttempted, type Attempted } from '@waybell/line/outcomes';
import type { Books } from './books.ts';
import type { Ending, Owed } from './owed.ts';
import { wrongInCourse } from './wrong-in-course.ts';

/** The five ends that there are, from the strongest: what ran twice may have two. */
export const ENDS = ['delivered', 'exhausted', 'dropped', 'suppressed', 'rejected'] as const;
type End = (typeof ENDS)[number];

/** An event or delivery without its expected end, and its actual one. */
export type Lost = { event: string; delivery?: string; why: string };

export type Balance = Record<End, number> & {
  lost: Lost[];
  /** Requests beyond the first with the same `webhook-id` and attempt. */
  duplicates: number;
  /** Deliveries with more than one attempt made twice: two chains of retries ran side by side. */
  forked: string[];
};

export const NOTHING = { delivered: 0, exhausted: 0, dropped: 0, suppressed: 0, rejected: 0, duplicates: 0 };

/** An end as it was found, `place` being where among the outcomes. */
type Found = { kind: End; reason?: string; place: number };

/** Compares expected and actual ends. A wrong end is none. */
export function balance(books: Books): Balance {
  const { seen, records, ends, isOffBefore } = indexOf(books);
  const sum: Balance = { ...NOTHING, lost: [], forked: [] };
  for (const owed of books.owed) {
    const { to, event } = owed;
    const lose = (why: string) => sum.lost.push({ event, ...(to && { delivery: to.delivery }), why });
    const found = ends(owed);
    const came = found.map((end) => ({ end, ending: endingFor(owed, end, isOffBefore) }));
    const wrong = came.find(({ ending }) => ending === undefined);
    const [best] = came;
    const requests = to === undefined ? [] : (seen.get(to.delivery) ?? []);
    if (best === undefined) lose(`${textOf(owed)}, and nothing came of it`);
    else if (wrong !== undefined) lose(`${textOf(owed)}, but ${textOfEnd(wrong.end)}`);
    else if (best.ending !== undefined) {
      const known = { owed, ending: best.ending, requests, records: to ? (records.get(to.delivery) ?? []) : [] };
      const amiss = wrongInCourse(known);
      if (amiss === undefined) sum[best.end.kind] += 1;
      else lose(`${best.end.kind}, but ${amiss}`);
    }
    const repeated = [...Map.groupBy(requests, ({ attempt }) => attempt).values()].filter(({ length }) => length > 1);
    sum.duplicates += repeated.reduce((total, { length }) => total + length - 1, 0);
    if (to !== undefined && repeated.length > 1) sum.forked.push(to.delivery);
  }
  return sum;
}

/** How many have come to no end at all, right or wrong. */
export function withoutEnd(books: Books): Owed[] {
  const { ends } = indexOf(books);
  return books.owed.filter((owed) => ends(owed).length === 0);
}

/** Several balances as one. */
export function sumOf([first, ...others]: readonly Balance[]): Balance {
  if (first === undefined) throw new Error('nothing to sum up');
  return others.reduce((sum, next) => {
    const counts = [...ENDS, 'duplicates' as const].map((name) => [name, sum[name] + next[name]]);
    const lists = { lost: [...sum.lost, ...next.lost], forked: [...sum.forked, ...next.forked] };
    return { ...sum, ...Object.fromEntries(counts), ...lists };
  }, first);
}

type IsOffBefore = (subscription: string | undefined, place: number) => boolean;

function endingFor({ ends, to }: Owed, end: Found, isOffBefore: IsOffBefore): Ending | undefined {
  return ends.find(
    (ending) =>
      ending.kind === end.kind &&
      (!('reason' in ending) || ending.reason === end.reason) &&
      (ending.onceOff === undefined || isOffBefore(to?.subscription, end.place)),
  );
}

/** Indexes the actual ends by the expected deliveries. */
function indexOf({ seen, outcomes, rejections }: Books) {
  const placed = outcomes.map((outcome, place) => ({ outcome, place }));
  const suppressed = new Map<string, (Found & { account?: string; subscription?: string })[]>();
  const ended = new Map<string, Found[]>();
  const exhausted = new Map<string, number>();
  for (const { outcome, place } of placed) {
    if (outcome.kind === 'routed') {
      const reasons = outcome.suppressed.map((each) => ({ kind: 'suppressed' as const, ...each, place }));
      // A duplicate was routed before: its end is what that routing led to.
      put(suppressed, outcome.event, ...reasons.filter(({ reason }) => reason !== 'duplicate'));
    }
    if (!isAttempted(outcome) || outcome.kind === 'failed') continue;
    const { kind, delivery, subscription } = outcome;
    if (kind === 'exhausted' && !exhausted.has(subscription)) exhausted.set(subscription, place);
    put(ended, delivery, { kind, place, ...(kind === 'dropped' && { reason: outcome.reason }) });
  }
  for (const { messageId, reason } of rejections) put(ended, messageId, { kind: 'rejected', reason, place: Infinity });
  return {
    seen: Map.groupBy(seen, ({ delivery }) => delivery),
    records: Map.groupBy(outcomes.filter(isAttempted), ({ delivery }: Attempted) => delivery),
    ends: ({ event, account, to }: Owed): Found[] =>
      [
        ...(to === undefined ? [] : (ended.get(to.delivery) ?? [])),
        ...(ended.get(event) ?? []),
        ...(suppressed.get(event) ?? []).filter((each) =>
          each.subscription === undefined
            ? (each.account ?? account) === account
            : each.subscription === to?.subscription,
        ),
      ].toSorted((one, other) => ENDS.indexOf(one.kind) - ENDS.indexOf(other.kind)),
    isOffBefore: (subscription = '', place = 0) => (exhausted.get(subscription) ?? Infinity) < place,
  };
}

function put<T>(into: Map<string, T[]>, key: string, ...values: T[]): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, values);
  else known.push(...values);
}

const textOf = ({ ends }: Owed): string => `owed: ${ends.map(textOfEnd).join(' or ')}`;
const textOfEnd = (end: { kind: string; reason?: string }): string => [end.kind, end.reason].filter(Boolean).join(' ');
