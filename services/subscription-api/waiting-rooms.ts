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
  with listed as materialized (
    select r.*, oldest.made_at from waybell.deliverer_rooms r
    cross join lateral (select made_at from ${WAITING} order by w.made_at limit 1) oldest
    where ${OF_WHOM} order by oldest.made_at, r.room limit $1
  )
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

/** How a destination's rows of an outbox are listed; a row that is due later is in the hands of a process, or a retry. */
const DESTINATIONS = `
  select case service when 'router' then 'event-router' else service end as service,
    split_part(destination, ' ', 1) as exchange, substring(destination from position(' ' in destination) + 1) as "routingKey",
    count(*)::float8 as publications, sum(octet_length(properties) + octet_length(body))::float8 as bytes,
    ${ms('min(put_at)')} as "oldestAt", ${ms('min(refused_at)')} as "shutSince", false as "isClaimed",
    ${ms('min(due_at)')} as "nextTryAt"
  from waybell.outbox group by service, destination order by min(put_at), service, destination limit $1`;

/** Finds destinations that publications wait for, those that wait longest first. Counts all rows. */
export async function waitingDestinations(
  postgres: Queryable,
  { limit }: { limit: number },
): Promise<WaitingDestination[]> {
  return (await postgres.query<WaitingDestination>(DESTINATIONS, [limit])).rows;
}

/** All that waits for endpoints, as their service counts it, up to a second old; or for destinations, as it is. */
export type WaitingInAll = { rooms: number; shut: number; rows: number; bytes: number; oldestAt: number | null };

const ENDPOINTS_IN_ALL = `
  select count(*)::int as rooms, count(r.shut_since)::int as shut, min(oldest.made_at)::float8 as "oldestAt",
    (select coalesce(sum(rows), 0) from waybell.deliverer_waiting_sums where name is null)::float8 as rows,
    (select coalesce(sum(bytes), 0) from waybell.deliverer_waiting_sums where name is null)::float8 as bytes
  from waybell.deliverer_rooms r cross join lateral (select made_at from ${WAITING} order by w.made_at limit 1) oldest
  where r.name is null`;

const DESTINATIONS_IN_ALL = `
  select count(*)::int as rooms, count("shutSince")::int as shut, coalesce(sum(publications), 0) as rows,
    coalesce(sum(bytes), 0) as bytes, min("oldestAt") as "oldestAt"
  from (${DESTINATIONS}) listed`;

/** Reads one row of each room, and all of outboxes. */
export async function waitingInAll(
  postgres: Queryable,
): Promise<{ endpoints: WaitingInAll; destinations: WaitingInAll }> {
  const { rows: endpoints } = await postgres.query<WaitingInAll>(ENDPOINTS_IN_ALL);
  const { rows: destinations } = await postgres.query<WaitingInAll>(DESTINATIONS_IN_ALL, [null]);
  const NOTHING = { rooms: 0, shut: 0, rows: 0, bytes: 0, oldestAt: null };
  return { endpoints: endpoints[0] ?? NOTHING, destinations: destinations[0] ?? NOTHING };
}
