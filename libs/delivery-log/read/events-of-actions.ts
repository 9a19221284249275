import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../columns.ts';
import { partOf } from '../tables.ts';
import { placeBefore, type Cursor } from './cursor.ts';

/** An event's row for an account that has some subscriptions to an action. */
export type SubscribedRow = {
  at: number;
  event: string;
  account: string;
  action: string;
  /** Keys as `writeKey` writes them. */
  keys: string[];
  subscriptions: string[];
};

/** An account's action, as `writeAction` writes it, and the time from which on nothing is of interest. */
export type AccountAction = { account: string; action: string; untilMs: number };

export type SubscribedQuery = {
  of: readonly AccountAction[];
  subscriptions: readonly string[];
  /** Milliseconds since the epoch; `until` is exclusive. */
  since: number;
  until: number;
  before: Cursor;
  limit: number;
};

/** Limit of the events of one action that are read together, however few deliveries a subscription has among them. */
const SCANNED = 5_000;

/** The events of each action after its place. */
const OF_ACTION = `
  select at, event, account, action, keys, subscriptions from delivery_log.events e
  where e.part = asked.part and e.at >= ${time('$5')} and (e.at, e.event) < (${time('asked.before_ms')}, asked.before_event)
  order by e.at desc, e.event desc`;
// For a range between two bounds that it does not know, Postgres expects few rows, and would read all to sort them.
const ASKED =
  'unnest($1::uuid[], $2::bigint[], $3::float8[], $4::uuid[]) as asked (account, part, before_ms, before_event)';

/**
 * Finds events of accounts' actions that caused deliveries to some subscriptions, newest first, with those of the subscriptions.
 * Rows of the same event and time come together, even beyond the limit. `place`: nothing after it was read.
 */
export async function eventsOfActions(
  postgres: Queryable,
  { of, subscriptions, since, until, before, limit }: SubscribedQuery,
): Promise<{ rows: SubscribedRow[]; place?: Cursor }> {
  const places = of.map(({ untilMs }) => placeBefore(Math.min(until, untilMs), before));
  const asked = [
    of.map(({ account }) => account),
    of.map(({ account, action }) => partOf(account, action)),
    places.map(({ at }) => at),
    places.map(({ guid }) => guid),
    since,
  ];
  const { rows } = await postgres.query<SubscribedRow>({
    name: 'history-of-actions',
    text: `select ${ms('e.at')} as at, e.event, e.account, e.action, e.keys,
             array(select s from unnest(e.subscriptions) s where s = any ($6::uuid[])) as subscriptions
           from ${ASKED}
           cross join lateral (
             select * from (${OF_ACTION} limit ${SCANNED}) e where e.subscriptions && $6 and e.account = asked.account
             order by e.at desc, e.event desc fetch first $7 rows with ties
           ) e
           order by e.at desc, e.event desc fetch first $7 rows with ties`,
    values: [...asked, subscriptions, limit],
  });
  if (rows.length >= limit) return { rows };
  const { rows: bounds } = await postgres.query<Cursor>({
    name: 'history-of-actions-scanned',
    text: `select ${ms('e.at')} as at, e.event as guid from ${ASKED}
           cross join lateral (${OF_ACTION} offset ${SCANNED - 1} limit 1) e
           order by e.at desc, e.event desc limit 1`,
    values: asked,
  });
  const [place] = bounds;
  if (place === undefined) return { rows };
  const isBefore = ({ at, event }: SubscribedRow) => at > place.at || (at === place.at && event >= place.guid);
  return { rows: rows.filter(isBefore), place };
}
