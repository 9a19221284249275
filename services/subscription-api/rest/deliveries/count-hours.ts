import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { countsWithin, noCounts, subscriptionsToCount, type Counted, type Counts } from './counts.ts';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '@waybell/runtime/postgres';

export const HOUR_MS = 3_600_000;
/** Number of whole hours, in addition to the current one. */
const HOURS = 24;
/** After this time, everything that ended in an hour is in the log. */
const SETTLED_MS = 300_000;
/** An entry is some counts for each action: a few hundred bytes. */
const MOST_KEPT = 20_000;

type OfHour = ReadonlyMap<string, Counts>;
type HoursQuery = { reader: ClientReader; subscriptions: readonly Counted[]; actions: readonly string[] };
type Bucket = Counts & { at: number };

/** Times are milliseconds since the epoch. */
export type Statistics = { since: number; until: number; actions: { action: string; buckets: Bucket[] }[] };

export type CountHours = (
  postgres: Queryable,
  asked: { reader: ClientReader; actions: readonly string[]; now: number },
) => Promise<Statistics>;

/**
 * Counts results of a client's deliveries in the last 24 whole hours and the current one. Past hours are cached for as long as
 * they have been over: records that the log learns late are counted late, but never lost.
 */
export function countHours(): CountHours {
  const kept = new LRUCache<string, OfHour>({ max: MOST_KEPT });

  async function countHour(
    postgres: Queryable,
    asked: HoursQuery,
    { at, now }: { at: number; now: number },
  ): Promise<OfHour> {
    const name = JSON.stringify([asked.reader.account, asked.reader.client, at]);
    const known = kept.get(name);
    if (known !== undefined) return known;
    const until = at + HOUR_MS;
    const counts = await countsWithin(postgres, { ...asked, from: at, until });
    const overMs = now - until;
    if (overMs >= SETTLED_MS) kept.set(name, counts, { ttl: overMs });
    return counts;
  }

  return async (postgres, { reader, actions, now }) => {
    const subscriptions = await subscriptionsToCount(postgres, reader);
    const asked = { reader, subscriptions, actions };
    const since = Math.floor(now / HOUR_MS) * HOUR_MS - HOURS * HOUR_MS;
    const hours: { at: number; counts: OfHour }[] = [];
    // One after another: each is short, and those that were counted are kept even if a later one fails.
    for (let at = since; at <= now; at += HOUR_MS)
      hours.push({ at, counts: await countHour(postgres, asked, { at, now }) });
    return { since, until: now, actions: byAction(hours, subscriptions) };
  };
}

function byAction(
  hours: readonly { at: number; counts: OfHour }[],
  subscriptions: readonly Counted[],
): Statistics['actions'] {
  const subscribed = subscriptions.filter(({ isCurrent }) => isCurrent).map(({ action }) => action);
  const names = new Set([...subscribed, ...hours.flatMap(({ counts }) => [...counts.keys()])]);
  return [...names].toSorted().map((action) => ({
    action,
    buckets: hours.map(({ at, counts }) => ({ at, ...(counts.get(action) ?? noCounts()) })),
  }));
}
