/** Counts the results of a client's deliveries, and the events that it got nothing of, by action and hour. */
import { LRUCache } from 'lru-cache';
import { time, DELIVERED_OR_RETRIED, NOT_DELIVERED, partOf, writeAction } from '@waybell/delivery-log/tables';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Queryable } from '@waybell/runtime/postgres';

export const HOUR_MS = 3_600_000;
/** Number of whole hours, in addition to the current one. */
const HOURS = 24;
/** After this time, everything that ended in an hour is in the log. */
const COMPLETE_AFTER_MS = 300_000;
/** An entry is some counts for each action: a few hundred bytes. */
const MOST_KEPT = 20_000;

/**
 * `delivered`, `retried` (another attempt follows) and `given_up` (exhausted or dropped) count attempts, and ends without one, by
 * when they ended. Deliveries sent again by hand count again, tests by hand never. `suppressed`: events for the account of which
 * the router made no delivery for the client.
 */
type Counts = Record<'delivered' | 'retried' | 'given_up' | 'suppressed', number>;

/** A client's subscriptions, also ended ones. */
type Counted = { subscription: string; action: string; isCurrent: boolean };

type OfHour = ReadonlyMap<string, Counts>;
/** `actions`: those whose suppressed events are counted. */
type HoursQuery = { reader: ClientReader; subscriptions: readonly Counted[]; actions: readonly string[] };
type Bucket = Counts & { at: number };

/** Times are milliseconds since the epoch. */
type Statistics = { since: number; until: number; actions: { action: string; buckets: Bucket[] }[] };

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
    if (overMs >= COMPLETE_AFTER_MS) kept.set(name, counts, { ttl: overMs });
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

async function subscriptionsToCount(
  postgres: Queryable,
  { account, client, interface: interfaceName }: ClientReader,
): Promise<Counted[]> {
  const { rows } = await postgres.query<Counted>({
    name: 'statistics-subscriptions',
    text: `select guid as subscription, action, ended_at is null as "isCurrent" from waybell.subscriptions
           where account_guid = $1 and client_id = $2 and interface = $3`,
    values: [account, client, interfaceName],
  });
  return rows;
}

/** Times are milliseconds since the epoch; `until` is exclusive. */
type CountQuery = HoursQuery & { from: number; until: number };

const within = (at: string): string => `${at} >= ${time('$1')} and ${at} < ${time('$2')}`;

const ended = (which: string): string => `
  select subscription, kind, count(*) from delivery_log.attempts
  where subscription = any ($3::uuid[]) and ${which} and ${within('at')} and by_hand is distinct from 'test'
  group by subscription, kind`;

const COUNT = `
  select s.action, c.kind, sum(c.count)::float8 as count
  from (${ended(NOT_DELIVERED)} union all ${ended(DELIVERED_OR_RETRIED)}) c
  join unnest($3::uuid[], $4::text[]) as s (subscription, action) using (subscription)
  group by s.action, c.kind
  union all
  select asked.action, 'suppressed', count(*)::float8 from unnest($6::text[], $8::bigint[]) as asked (action, part)
  cross join lateral (
    select from delivery_log.events e
    where e.part = asked.part and e.account = $5 and e.action = $7 || '.' || asked.action and ${within('e.at')} and e.place is not null
      and not coalesce(e.subscriptions && $3::uuid[], false) offset 0
  ) e group by asked.action`;

/** The name of what a kind of attempt counts as. */
const COUNTED_AS: Record<string, keyof Counts> = {
  delivered: 'delivered',
  failed: 'retried',
  exhausted: 'given_up',
  dropped: 'given_up',
  suppressed: 'suppressed',
};

/** Counts a time range by action, without actions that have nothing. Reads every row of the client in it. */
async function countsWithin(
  postgres: Queryable,
  { reader, subscriptions, actions, from, until }: CountQuery,
): Promise<ReadonlyMap<string, Counts>> {
  const guids = subscriptions.map(({ subscription }) => subscription);
  const theirActions = subscriptions.map(({ action }) => action);
  // Unnamed: the number of rows varies so much that Postgres must plan each query separately.
  const { rows } = await postgres.query<{ action: string; kind: string; count: number }>(COUNT, [
    from,
    until,
    guids,
    theirActions,
    reader.account,
    actions,
    reader.interface,
    actions.map((action) => partOf(reader.account, writeAction(reader.interface, action))),
  ]);
  const counts = new Map<string, Counts>();
  for (const { action, kind, count } of rows) {
    const of = counts.get(action) ?? noCounts();
    const name = COUNTED_AS[kind];
    if (name !== undefined) of[name] += count;
    counts.set(action, of);
  }
  return counts;
}

const noCounts = (): Counts => ({ delivered: 0, retried: 0, given_up: 0, suppressed: 0 });
