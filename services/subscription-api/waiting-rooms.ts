import { ms } from '@waybell/delivery-log/tables';
import { isOfListener, type ListenerOption } from '@waybell/delivery-log/listener-client';
import type { WaitingReason } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';

/** A waiting room of an endpoint, a held subscription or a destination, and its owner. Times are milliseconds since the epoch. */
type WaitingRoom = {
  bytes: number;
  /** When its oldest row was made. */
  oldestAt: number;
  /** Since when it has accepted nothing; null: it answers, and accepts some. */
  shutSince: number | null;
  /** Whether a living process has claimed it. */
  isClaimed: boolean;
  /** When it is tried next; null while it is claimed. */
  nextTryAt: number | null;
};

export type WaitingEndpoint = WaitingRoom & {
  account: string;
  /** Without the query, which may hold secrets; null: no subscription has it any more. */
  url: string | null;
  /** The subscriptions that something waits for. */
  subscriptions: string[];
  deliveries: number;
  /** False: there are more deliveries than `MOST_COUNTED`, and the members are about so many of them. */
  isComplete: boolean;
  why: WaitingReason[];
};

export type WaitingDestination = WaitingRoom & {
  service: string;
  exchange: string;
  routingKey: string;
  publications: number;
};

/** Limit of the rows that are read of an endpoint: it may have millions. In no order, as to put them into one reads them all. */
const MOST_COUNTED = 10_000;

/** Rooms in which something waits, the oldest first; `$1`: how many at most. `waiting`: the rows `w` of a room `r`. */
const listed = ({ rooms, waiting, where }: { rooms: string; waiting: string; where: string }): string => `
  listed as materialized (
    select r.*, oldest.made_at from ${rooms} r
    cross join lateral (select made_at from ${waiting} order by w.made_at limit 1) oldest
    where ${where} order by oldest.made_at, r.room limit $1
  )`;

const OF_ROOM = `
  made_at::float8 as "oldestAt", ${ms('shut_since')} as "shutSince",
  claimed_by is not null and look_at > now() as "isClaimed",
  case when claimed_by is null or look_at <= now() then ${ms('look_at')} end as "nextTryAt"`;

// Reads the deliverer's tables: it alone has rooms of endpoints.
const WAITING = 'waybell.deliverer_waiting w where w.room = r.room';
/** The room's first delivery. No room has deliveries to a listener beside others: its URL is its own. */
const FIRST = `(select w.subscription from ${WAITING} order by w.made_at limit 1)`;
const OF_WHOM = `r.name is null and ($2::uuid is null or r.account = $2) and ($3 or not ${isOfListener(FIRST)})`;

const ENDPOINTS = `
  with ${listed({ rooms: 'waybell.deliverer_rooms', waiting: WAITING, where: OF_WHOM })}
  select account, url, subscriptions, deliveries, deliveries < ${MOST_COUNTED} as "isComplete", bytes, why, ${OF_ROOM}
  from listed cross join lateral (
    select count(*)::int as deliveries, sum(size)::float8 as bytes, array_agg(distinct why) as why,
      array_agg(distinct subscription::text) as subscriptions
    from (
      select subscription, why, octet_length(properties) + coalesce(octet_length(body), 0) as size
      from waybell.deliverer_waiting w where w.room = listed.room limit ${MOST_COUNTED}
    ) counted_rows
  ) counted
  left join lateral (
    select split_part(s.callback_url, '?', 1) as url from waybell.subscriptions s
    where s.account_guid = listed.account and listed.room in (waybell.room_of(s.account_guid, s.callback_url), s.guid) limit 1
  ) current on true
  order by made_at, room`;

/** Finds endpoints that deliveries wait for, those that wait longest first. */
export async function waitingEndpoints(
  postgres: Queryable,
  { account, withListeners = false, limit }: { account?: string | undefined; limit: number } & ListenerOption,
): Promise<WaitingEndpoint[]> {
  return (await postgres.query<WaitingEndpoint>(ENDPOINTS, [limit, account ?? null, withListeners])).rows;
}

const DESTINATIONS = `
  with ${listed({
    rooms: 'waybell.rooms',
    waiting: 'waybell.waiting w where w.service = r.service and w.room = r.room',
    where: 'r.name is not null',
  })}
  select case listed.service when 'router' then 'event-router' else listed.service end as service,
    split_part(listed.name, ' ', 1) as exchange, substring(listed.name from position(' ' in listed.name) + 1) as "routingKey",
    coalesce(s.rows, 0)::float8 as publications, coalesce(s.bytes, 0)::float8 as bytes, ${OF_ROOM}
  from listed left join waybell.waiting_sums s on s.service = listed.service and s.holder = listed.room
  order by made_at, room`;

/** Finds destinations that publications wait for, those that wait longest first; counted as their service last did, about a second ago. */
export async function waitingDestinations(
  postgres: Queryable,
  { limit }: { limit: number },
): Promise<WaitingDestination[]> {
  return (await postgres.query<WaitingDestination>(DESTINATIONS, [limit])).rows;
}

/** All that waits for endpoints, or for destinations, as the services count it: up to a second old. */
export type WaitingInAll = { rooms: number; shut: number; rows: number; bytes: number; oldestAt: number | null };

const IN_ALL = `
  with room as (
    select r.name is null as is_endpoint, r.shut_since, oldest.made_at from waybell.rooms r cross join lateral (
      select made_at from waybell.waiting w where w.service = r.service and w.room = r.room order by w.made_at limit 1
    ) oldest
  ), summed as (
    select s.name is null as is_endpoint, sum(s.rows) as rows, sum(s.bytes) as bytes
    from waybell.waiting_sums s group by 1
  )
  select k.is_endpoint as "isEndpoint", count(made_at)::int as rooms, count(shut_since)::int as shut,
    coalesce(min(s.rows), 0)::float8 as rows, coalesce(min(s.bytes), 0)::float8 as bytes, min(made_at)::float8 as "oldestAt"
  from (values (true), (false)) as k (is_endpoint) left join room using (is_endpoint) left join summed s using (is_endpoint)
  group by k.is_endpoint`;

/** Reads one row of each room, and counts none. */
export async function waitingInAll(
  postgres: Queryable,
): Promise<{ endpoints: WaitingInAll; destinations: WaitingInAll }> {
  const { rows } = await postgres.query<WaitingInAll & { isEndpoint: boolean }>(IN_ALL);
  const of = (wanted: boolean): WaitingInAll => {
    const found = rows.find(({ isEndpoint }) => isEndpoint === wanted);
    if (found === undefined) throw new TypeError('a row for each kind of room');
    const { isEndpoint: _, ...sum } = found;
    return sum;
  };
  return { endpoints: of(true), destinations: of(false) };
}
