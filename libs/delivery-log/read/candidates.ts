import type { Queryable } from '@waybell/runtime/postgres';
import type { Cursor } from './cursor.ts';
import type { ClientReader } from './entries.ts';
import { ms, time } from '../columns.ts';
import { deliveryColumns, SKEW_MS, type AskedKey, type DeliveryRow } from './log-tables.ts';

/** A delivery that may match, and its place in the order of the search. */
export type Candidate = DeliveryRow & { place: Cursor };

/** `next`: there may be more after it. */
export type Candidates = { candidates: Candidate[]; next?: Cursor };

/** Finds deliveries made from `since` until before `until`, in milliseconds, after the place `before`. */
export type CandidateQuery = {
  reader: ClientReader;
  action: string | undefined;
  since: number;
  until: number;
  before: Cursor;
  limit: number;
};

/** Lists omit receivers' answers. */
const DELIVERY = deliveryColumns('false');
const SKEW = `interval '${SKEW_MS} milliseconds'`;

/** A client's subscriptions, also ended ones. Each has one action, and an index finds its rows by time. */
const SUBSCRIPTIONS = `select guid from waybell.subscriptions
  where account_guid = $1 and client_id = $2 and interface = $3 and ($4::text is null or action = $4)`;
const SINCE = time('$5');
const BEFORE_AT = time('$6');
const BEFORE = `(${BEFORE_AT}, $7::uuid)`;
const LIMIT = '$8';
const UNTIL = time('$9');

function valuesOf({ reader, action, since, before, limit }: CandidateQuery): unknown[] {
  const { account, client, interface: interfaceName } = reader;
  return [account, client, interfaceName, action ?? null, since, before.at, before.guid, limit];
}

/** Finds a client's deliveries, newest first. */
export async function deliveriesOfClient(postgres: Queryable, query: CandidateQuery): Promise<Candidates> {
  const { rows } = await postgres.query<CandidateRow>({
    name: 'history-of-client',
    text: `select ${DELIVERY}, ${ms('d.at')} as "placedAt", d.delivery as "placedGuid" from (${SUBSCRIPTIONS}) s
           cross join lateral (
             select * from delivery_log.deliveries d
             where d.subscription = s.guid and d.at >= ${SINCE} and d.at < ${UNTIL} and (d.at, d.delivery) < ${BEFORE}
             order by d.at desc, d.delivery desc limit ${LIMIT}
           ) d
           order by d.at desc, d.delivery desc limit ${LIMIT}`,
    values: [...valuesOf(query), query.until],
  });
  return candidatesIn(rows, query);
}

/** Finds deliveries given up or dropped, by when that was, latest first. Some may not be made before `until`. */
export async function deliveriesInVain(postgres: Queryable, query: CandidateQuery): Promise<Candidates> {
  const { rows } = await postgres.query<CandidateRow>({
    name: 'history-in-vain',
    text: `select ${DELIVERY}, ${ms('a.at')} as "placedAt", a.delivery as "placedGuid" from (
             select a.* from (${SUBSCRIPTIONS}) s
             cross join lateral (
               select a.at, a.delivery from delivery_log.attempts a
               where a.subscription = s.guid and a.kind in ('exhausted', 'dropped')
                 and a.at >= ${SINCE} - ${SKEW} and (a.at, a.delivery) < ${BEFORE}
               order by a.at desc, a.delivery desc limit ${LIMIT}
             ) a
             order by a.at desc, a.delivery desc limit ${LIMIT}
           ) a
           left join lateral (
             select * from delivery_log.deliveries d where d.delivery = a.delivery order by d.at limit 1
           ) d on true
           order by a.at desc, a.delivery desc`,
    values: valuesOf(query),
  });
  return candidatesIn(rows, query);
}

/** Finds deliveries about a key, by creation, newest first. */
export async function deliveriesAbout(
  postgres: Queryable,
  { about, ...query }: CandidateQuery & { about: AskedKey },
): Promise<Candidates> {
  const { rows } = await postgres.query<CandidateRow>({
    name: 'history-deliveries-about',
    text: `select ${DELIVERY}, ${ms('d.at')} as "placedAt", d.delivery as "placedGuid" from (
             select at, event from delivery_log.keys
             where key = $10 and ($11::text is null or kind = $11) and at >= ${SINCE} and at < ${UNTIL} and at <= ${BEFORE_AT}
             group by at, event
           ) k
           join delivery_log.deliveries d on d.event = k.event and d.at = k.at
           where d.subscription in (${SUBSCRIPTIONS}) and (k.at, d.delivery) < ${BEFORE}
           order by k.at desc, d.delivery desc limit ${LIMIT}`,
    values: [...valuesOf(query), query.until, about.key, about.kind ?? null],
  });
  return candidatesIn(rows, query);
}

/** All but the place is null if the log no longer, or not yet, has the delivery, but has its end. */
type CandidateRow = DeliveryRow & { placedAt: number; placedGuid: string };

function candidatesIn(rows: readonly CandidateRow[], { limit }: Pick<CandidateQuery, 'limit'>): Candidates {
  const placed = rows.map(({ placedAt: at, placedGuid: guid, ...row }) => ({ ...row, place: { at, guid } }));
  const candidates = placed.filter(({ delivery }) => delivery !== null);
  const last = placed.at(-1);
  return last === undefined || rows.length < limit ? { candidates } : { candidates, next: last.place };
}

/** Finds the latest deliveries of these subscriptions, newest first. */
export async function latestDeliveries(
  postgres: Queryable,
  subscriptions: readonly string[],
  limit: number,
): Promise<DeliveryRow[]> {
  const { rows } = await postgres.query<DeliveryRow>({
    name: 'history-latest-deliveries',
    text: `select ${DELIVERY} from unnest($1::uuid[]) as s (guid)
           cross join lateral (
             select * from delivery_log.deliveries d where d.subscription = s.guid order by d.at desc limit $2
           ) d
           order by d.at desc, d.delivery limit $2`,
    values: [subscriptions, limit],
  });
  return rows;
}
