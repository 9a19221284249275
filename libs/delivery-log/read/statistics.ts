/** Counts the results of a client's deliveries, and the events that it got nothing of, by action and hour. */
import type { Queryable } from '@waybell/runtime/postgres';
import { time } from '../columns.ts';
import type { ClientReader } from './entries.ts';
import { SKEW_MS } from './log-tables.ts';

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
  account: string;
  subscriptions: readonly Counted[];
  /** Actions whose suppressed events are counted. */
  actions: readonly string[];
  /** Milliseconds since the epoch; `until` is exclusive. */
  from: number;
  until: number;
};

const FROM = time('$4');
const UNTIL = time('$5');
const SKEW = `interval '${SKEW_MS} milliseconds'`;
const OF_CLIENT = 'subscription = any ($2::uuid[])';
const within = (at: string): string => `${at} >= ${FROM} and ${at} < ${UNTIL}`;
const ENDED = `${OF_CLIENT} and ${within('at')} and by_hand is distinct from 'test'`;

const KEPT = `unnest($3::text[]) as w (action)
  cross join lateral (
    select action, event, at from delivery_log.kept_events k
    where k.account = $1 and k.action = w.action and ${within('k.at')} offset 0
  ) e`;

/** Differs for other events, so that days with very many can be compared without reading each event. */
const PRINT = `sum(uuid_hash(event) # timestamp_hash(at at time zone 'UTC'))`;

// The record of a first attempt that came twice may be in both tables.
const COUNT = `
  select s.action, c.kind, sum(c.count)::float8 as count, sum(c.print)::text as print from (
    select subscription, each.* from (
      select subscription, count(*) filter (where ${within('attempted_at')}) as delivered,
        count(*) filter (where ${within('at')}) as made, ${PRINT} filter (where ${within('at')}) as print
      from delivery_log.deliveries
      where ${OF_CLIENT} and at >= ${FROM} - ${SKEW} and at < ${UNTIL} + ${SKEW} group by subscription
    ) d cross join lateral (values ('delivered', delivered, null), ('made', made, print)) as each (kind, count, print)
    union all
    select subscription, kind, count(*), null from delivery_log.attempts a
    where ${ENDED} and kind not in ('exhausted', 'dropped') and not (kind = 'delivered' and attempt = 1 and exists (
      select from delivery_log.deliveries d where d.delivery = a.delivery and d.attempted_at = a.at
        and d.at >= a.at - ${SKEW} and d.at < a.at + ${SKEW}))
    group by subscription, kind
    union all
    select subscription, kind, count(*), null from delivery_log.attempts
    where ${ENDED} and kind in ('exhausted', 'dropped') group by subscription, kind
  ) c
  join unnest($2::uuid[], $6::text[]) as s (subscription, action) using (subscription)
  group by s.action, c.kind
  union all
  select action, 'kept', count::float8, print::text from (
    select e.action, count(*), ${PRINT} as print from ${KEPT} group by e.action
  ) k`;

/** Counts suppressed events of some actions, by action. */
const SUPPRESSED = `
  select e.action, count(*)::float8 from ${KEPT}
  where not exists (
    select from delivery_log.deliveries d
    where d.event = e.event and d.at = e.at and d.${OF_CLIENT} and ${within('d.at')})
  group by e.action`;

type CountRow = { action: string; kind: string; count: number; print: string | null };

/** Counts a time range by action, without actions that have nothing. Reads every row of the client in it. */
export async function countsWithin(postgres: Queryable, asked: CountQuery): Promise<ReadonlyMap<string, Counts>> {
  // Unnamed: the number of rows varies so much that Postgres must plan each query by itself.
  const { rows } = await postgres.query<CountRow>(COUNT, valuesOf(asked));
  const counts = new Map<string, Counts>();
  const compared: string[] = [];
  for (const [action, ofAction] of Map.groupBy(rows, (row) => row.action)) {
    const kinds = new Map(ofAction.map((row) => [row.kind, row]));
    const [kept, made] = [kinds.get('kept'), kinds.get('made')];
    const count = (kind: string): number => kinds.get(kind)?.count ?? 0;
    const isAllMade = count('kept') === count('made') && kept?.print === made?.print;
    const isNothingMade = count('made') === 0;
    if (count('kept') > 0 && !isAllMade && !isNothingMade) compared.push(action);
    counts.set(action, {
      delivered: count('delivered'),
      retried: count('failed'),
      given_up: count('exhausted') + count('dropped'),
      suppressed: isNothingMade ? count('kept') : 0,
    });
  }
  for (const { action, count } of await suppressedOf(postgres, asked, compared))
    counts.set(action, { ...(counts.get(action) ?? noCounts()), suppressed: count });
  return new Map([...counts].filter(([, each]) => Object.values(each).some((count) => count > 0)));
}

async function suppressedOf(
  postgres: Queryable,
  asked: CountQuery,
  actions: string[],
): Promise<Omit<CountRow, 'kind' | 'print'>[]> {
  if (actions.length === 0) return [];
  return (await postgres.query<CountRow>(SUPPRESSED, valuesOf({ ...asked, actions }).slice(0, 5))).rows;
}

function valuesOf({ account, subscriptions, actions, from, until }: CountQuery): unknown[] {
  const guids = subscriptions.map(({ subscription }) => subscription);
  const theirActions = subscriptions.map(({ action }) => action);
  return [account, guids, actions, from, until, theirActions];
}

export const noCounts = (): Counts => ({ delivered: 0, retried: 0, given_up: 0, suppressed: 0 });
