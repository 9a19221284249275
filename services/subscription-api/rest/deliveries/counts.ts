/** Counts the results of a client's deliveries, and the events that it got nothing of, by action and hour. */
import type { Queryable } from '@waybell/runtime/postgres';
import { time } from '@waybell/delivery-log/columns';
import { DELIVERED_OR_RETRIED, NOT_DELIVERED, partOf, writeAction } from '@waybell/delivery-log/tables';
import type { ClientReader } from '@waybell/delivery-log/read/entries';

export const COUNTED = ['delivered', 'retried', 'given_up', 'suppressed'] as const;

/**
 * `delivered`, `retried` (another attempt follows) and `given_up` (exhausted or dropped) count attempts, and ends without one, by
 * when they ended. Deliveries sent again by hand count again, tests by hand never. `suppressed`: events for the account of which
 * the router made no delivery for the client.
 */
export type Counts = Record<(typeof COUNTED)[number], number>;

/** A client's subscriptions, also ended ones. */
export type Counted = { subscription: string; action: string; isCurrent: boolean };

export async function subscriptionsToCount(
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

type CountQuery = {
  reader: ClientReader;
  subscriptions: readonly Counted[];
  /** Actions whose suppressed events are counted. */
  actions: readonly string[];
  /** Milliseconds since the epoch; `until` is exclusive. */
  from: number;
  until: number;
};

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
export async function countsWithin(
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

export const noCounts = (): Counts => ({ delivered: 0, retried: 0, given_up: 0, suppressed: 0 });
