/** Deliveries: which ones events caused, which of them a reader may see, and where they wait. */
import type { InterfaceName, Key, WaitingReason } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, numberOfKey, PREFIX_BYTES } from '../tables.ts';
import { ownerOf } from '../listener-client.ts';
import type { Reader, ClientReader } from './entries.ts';
import { eventByGuid, ofPlace, type EventRow } from './events.ts';

/** A delivery that an event caused. */
export type DeliveryRow = {
  /** When the router made it, in milliseconds since the epoch. */
  at: number;
  delivery: string;
  event: string;
  interface: InterfaceName;
  action: string;
  /** Keys of the objects that its event is about. */
  keys: readonly Key[];
  subscription: string;
  account: string;
  client: string;
};

type Owner = Pick<DeliveryRow, 'interface' | 'account' | 'client' | 'subscription'>;

/** Returns the delivery that an event caused to a subscription. */
export function deliveryOf(
  { at, event, action, keys }: Pick<DeliveryRow, 'at' | 'event' | 'action' | 'keys'>,
  { interface: interfaceName, account, client, subscription }: Owner,
): DeliveryRow {
  const delivery = messageGuid(event, subscription);
  return { at, delivery, event, interface: interfaceName, action, keys, subscription, account, client };
}

/** Returns the deliveries that these events caused and that the reader may see, by guid. */
export async function deliveriesOf(
  postgres: Queryable,
  rows: readonly EventRow[],
  reader: Reader,
): Promise<DeliveryRow[]> {
  const clients = await clientsOf(
    postgres,
    rows.flatMap(({ subscriptions }) => subscriptions ?? []),
  );
  return rows
    .flatMap(({ interface: interfaceName, account, subscriptions, ...row }) => {
      if (interfaceName === null || account === null) return [];
      return (subscriptions ?? []).map((subscription) => {
        const client = clients.get(subscription) ?? '';
        return deliveryOf(row, { interface: interfaceName, account, client, subscription });
      });
    })
    .filter((row) => isOfReader(row, reader))
    .toSorted((one, other) => (one.delivery < other.delivery ? -1 : 1));
}

/** Rows of subscriptions stay when they end. */
async function clientsOf(postgres: Queryable, subscriptions: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (subscriptions.length === 0) return new Map();
  const { rows } = await postgres.query<{ guid: string; client: string }>({
    name: 'history-clients',
    text: 'select guid, client_id as client from waybell.subscriptions where guid = any ($1::uuid[])',
    values: [[...new Set(subscriptions)]],
  });
  return new Map(rows.map(({ guid, client }) => [guid, client]));
}

/** Whether the reader may see a delivery: an API client sees its own, and its listeners' if it asks for them. */
function isOfReader(
  { account, client, interface: interfaceName }: Pick<ClientReader, 'account' | 'client' | 'interface'>,
  reader: Reader,
): boolean {
  if (reader === 'operator') return true;
  const readable = reader.withListeners ? ownerOf(client) : client;
  return account === reader.account && readable === reader.client && interfaceName === reader.interface;
}

/** Returns the rows as if no listener were subscribed; but for tests by hand, which have no keys. */
export async function withoutListeners(postgres: Queryable, rows: readonly EventRow[]): Promise<readonly EventRow[]> {
  const sent = rows.flatMap(({ keys, subscriptions }) => (keys.length > 0 ? (subscriptions ?? []) : []));
  if (sent.length === 0) return rows;
  const found = await postgres.query<{ guid: string }>({
    name: 'history-listeners',
    text: 'select guid from waybell.subscriptions where guid = any ($1::uuid[]) and waybell.is_listener(client_id)',
    values: [[...new Set(sent)]],
  });
  const listeners = new Set(found.rows.map(({ guid }) => guid));
  return rows.map((row) => {
    const others = row.subscriptions?.filter((each) => !listeners.has(each)) ?? [];
    return { ...row, subscriptions: others.length > 0 ? others : null };
  });
}

/**
 * A delivery, and its event where that is known. Without an attempt, a delivery is long to find by its guid alone: `isAttempted`
 * spares that.
 */
export type AskedDelivery = { delivery: string; event?: string; isAttempted?: boolean };

/** Finds a delivery; several, the first one first, if its event was routed again. */
export async function deliveriesByGuid(
  postgres: Queryable,
  { delivery, event: known, isAttempted = false }: AskedDelivery,
  reader: Reader,
): Promise<DeliveryRow[]> {
  const found = known ?? (await eventOfAttempted(postgres, delivery));
  const [listed] = found !== undefined || isAttempted ? [] : await eventsOfUnattempted(postgres, delivery);
  const event = found ?? listed;
  if (event === undefined) return [];
  const rows = await deliveriesOf(postgres, await eventByGuid(postgres, event, reader), reader);
  return rows.filter((row) => row.delivery === delivery).toSorted((one, other) => one.at - other.at);
}

const EVENT_OF_ATTEMPT = `
  select event from delivery_log.attempts where delivery = $1
  union all
  -- The guid of a delivery that was rejected is a key.
  select e.event from delivery_log.keys k cross join lateral (${ofPlace('k')}) e
  where k.number = $2 and e.rejected_delivery = $1
  limit 1`;

async function eventOfAttempted(postgres: Queryable, delivery: string): Promise<string | undefined> {
  const { rows } = await postgres.query<{ event: string }>({
    name: 'history-event-of-delivery',
    text: EVENT_OF_ATTEMPT,
    values: [delivery, numberOfKey(delivery)],
  });
  return rows[0]?.event;
}

/** A delivery is attempted, or ended without an attempt, within a day: DELIVERY_MAX_AGE, and time to spare. */
const LONGEST_UNATTEMPTED = "interval '26 hours'";

/** Chunks list the deliveries of their events by the first bytes of their guids, which may be found between two of them, too. */
const LISTED = `
  select e.event, e.subscriptions from delivery_log.chunks c
  cross join lateral (
    select * from delivery_log.events m
    where m.chunk = c.chunk and m.at >= c.at and m.at <= c.until and m.subscriptions is not null offset 0
  ) e
  where c.at >= date_trunc('day', now() - ${LONGEST_UNATTEMPTED}, 'UTC') and c.until > now() - ${LONGEST_UNATTEMPTED}
    and position($1::bytea in c.deliveries) > 0`;

/** Finds events of deliveries without an attempt whose guids begin so: with eight digits or more. */
export async function eventsOfUnattempted(postgres: Queryable, beginning: string): Promise<string[]> {
  const prefix = Buffer.from(beginning.slice(0, 2 * PREFIX_BYTES), 'hex');
  const { rows } = await postgres.query<{ event: string; subscriptions: string[] }>(LISTED, [prefix]);
  return rows
    .filter(({ event, subscriptions }) => subscriptions.some((each) => messageGuid(event, each).startsWith(beginning)))
    .map(({ event }) => event);
}

/** Finds which of these deliveries switched their subscription off: when, and by which rule. */
export async function deactivationsBy(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery'>[],
): Promise<{ delivery: string; at: number; rule: string }[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<{ delivery: string; at: number; rule: string }>({
    name: 'history-deactivations',
    text: `select o.delivery, ${ms('o.at')} as at, o.rule from unnest($1::uuid[]) as wanted (delivery)
           cross join lateral (
             select * from delivery_log.deactivations where delivery = wanted.delivery offset 0
           ) o`,
    values: [deliveries.map(({ delivery }) => delivery)],
  });
  return rows;
}

/** Since when, in milliseconds since the epoch, and why a delivery waits. */
export type WaitingNow = { since: number; why: WaitingReason };

/**
 * Builds a query for where the rows of these deliveries are while they wait. `made_at` is the time of the router's record or, if sent by
 * hand, when it was due; the row's `id` is between `prefix` and `beyond`. Its room is that of the endpoint, `room`, or of the
 * subscription, `held_room`; where one of the two changed a moment ago, it may still be another of the `account`. `wanted`: a table of
 * deliveries, with their subscriptions and times (`at`).
 */
export const placesOf = (wanted: string): string => `
  select made.delivery, s.account_guid as account, waybell.room_of(s.account_guid, s.callback_url) as room, s.guid as held_room,
    round(extract(epoch from made.at) * 1000)::bigint as made_at,
    (made.delivery || ' ') collate "C" as prefix, (made.delivery || '!') collate "C" as beyond
  from (
    select delivery, subscription, at from ${wanted}
    union all
    select s.delivery, s.subscription, s.due_at
    from delivery_log.sendings s where s.delivery in (select delivery from ${wanted}) and s.published_at is not null
  ) made join waybell.subscriptions s on s.guid = made.subscription`;

/** Finds which of these deliveries wait. Reads a few rows for each, however many wait for the same endpoint. */
export async function waitingOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'subscription' | 'at'>[],
): Promise<Map<string, WaitingNow>> {
  if (deliveries.length === 0) return new Map();
  const { rows } = await postgres.query<WaitingNow & { delivery: string }>({
    name: 'history-waiting',
    text: `with wanted as (
             select delivery, subscription, to_timestamp(at_ms / 1000) as at
             from unnest($1::uuid[], $2::uuid[], $3::float8[]) as w (delivery, subscription, at_ms)
           ), place as (${placesOf('wanted')})
           select place.delivery, ${ms('w.put_at')} as since, w.why from place
           cross join lateral (
             select * from waybell.deliverer_waiting q
             where q.room in (place.room, place.held_room) and q.made_at = place.made_at and q.id > place.prefix and q.id < place.beyond
             order by length(q.id) desc, q.id desc limit 1
           ) w`,
    values: [
      deliveries.map(({ delivery }) => delivery),
      deliveries.map(({ subscription }) => subscription),
      deliveries.map(({ at }) => at),
    ],
  });
  return new Map(rows.map(({ delivery, since, why }) => [delivery, { since, why }]));
}
