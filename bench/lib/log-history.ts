import { createHash } from 'node:crypto';
import type pg from 'pg';
import { DAY_MS, dayOf } from '@waybell/delivery-log/write/partitions';
import { messageGuid } from '@waybell/notifications/message-guid';

/**
 * A delivery log as a month leaves it, made by Postgres itself. Every event is about an order and a vehicle and goes to two
 * subscribers; one takes it at once, the other at the fourth attempt. An order has ten events, three days apart. Of
 * everything the guid follows from its number, so that anyone can ask for it. Bodies and their chunks are not made.
 */
export type LogHistory = { eventsPerDay: number; firstDay: number };

const DAYS = 30;
const EVENTS_PER_ORDER = 10;
const EVENTS_PER_VEHICLE = 100;
export const DELIVERIES_PER_EVENT = 2;
const ACCOUNTS = 1_000;
const SUBSCRIPTIONS = ACCOUNTS * DELIVERIES_PER_EVENT;
const ATTEMPTS_PER_EVENT = 5;
/** The last retry of a day's last event is still of that day. */
const USED_MS = DAY_MS - 60_000;

/** Makes about this many attempts, over the thirty days before today. */
export function logHistoryOf(attempts: number): LogHistory {
  return { eventsPerDay: Math.ceil(attempts / (DAYS * ATTEMPTS_PER_EVENT)), firstDay: dayOf(Date.now()) - DAYS };
}

export function countsOf({ eventsPerDay }: LogHistory) {
  const events = eventsPerDay * DAYS;
  return {
    events,
    keys: events * 2,
    deliveries: events * DELIVERIES_PER_EVENT,
    attempts: events * ATTEMPTS_PER_EVENT,
    orders: Math.floor(events / EVENTS_PER_ORDER),
  };
}

export function orderGuid(n: number): string {
  return guidOf('order', n);
}

export function deliveryGuid(n: number): string {
  const event = guidOf('event', Math.floor(n / DELIVERIES_PER_EVENT));
  return messageGuid(event, guidOf('subscription', n % SUBSCRIPTIONS));
}

function guidOf(kind: 'order' | 'event' | 'subscription', n: number): string {
  const hex = createHash('md5').update(`${kind}${n}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Each day is filled as tables without an index, which are then attached: that builds their indexes. Two at once. */
export async function fillLog(postgres: pg.Pool, history: LogHistory, tell: (line: string) => void): Promise<void> {
  // Postgres itself makes no UUIDv5, which guids of deliveries are.
  await postgres.query('create extension if not exists "uuid-ossp"');
  await postgres.query(SUBSCRIBERS);
  const places = Array.from({ length: DAYS }, (_, place) => place).values();
  const fill = async () => {
    for (const place of places) {
      if (place % 10 === 0) tell(`filling day ${place + 1} of ${DAYS}`);
      const day = history.firstDay + place;
      for (const [table, rows] of Object.entries(rowsOf(history, place)))
        await fillDay(postgres, { table, day, ...rows });
    }
  };
  await Promise.all([fill(), fill()]);
}

/** Deliveries of any number d go to subscription d modulo their number, and so one client of an account has each. */
const SUBSCRIBERS = `
  with made as (
    insert into waybell.accounts (guid, interface)
    select md5('account' || n)::uuid, 'shipper' from generate_series(0, ${ACCOUNTS - 1}) n
  )
  insert into waybell.subscriptions
    (guid, interface, account_guid, client_id, action, callback_url, verification_token_sealed, verification_token_key_id)
  select md5('subscription' || n)::uuid, 'shipper', md5('account' || n / ${DELIVERIES_PER_EVENT})::uuid,
    'client ' || n % ${DELIVERIES_PER_EVENT}, 'order.created', 'https://receiver.example/webhooks/' || n, '', ''
  from generate_series(0, ${SUBSCRIPTIONS - 1}) n`;

/** The columns of a table, in SQL, and their source. */
type Rows = { columns: Record<string, string>; from: string };
type Day = Rows & { table: string; day: number };

async function fillDay(postgres: pg.Pool, { table, day, columns, from }: Day): Promise<void> {
  const date = (n: number) => new Date(n * DAY_MS).toISOString().slice(0, 10);
  const parent = `delivery_log.${table}`;
  const name = `${parent}_${date(day).replaceAll('-', '')}`;
  // It is not needed after a crash, and half as much is written.
  await postgres.query(`create unlogged table ${name} (like ${parent})`);
  await postgres.query(
    `insert into ${name} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')} from ${from}`,
  );
  await postgres.query(
    `alter table ${parent} attach partition ${name} for values from ('${date(day)} 00:00Z') to ('${date(day + 1)} 00:00Z')`,
  );
  await postgres.query(`vacuum analyze ${name}`);
}

const ACTION = `(array['shipper.order.created', 'shipper.order.delivered', 'shipper.offer.sent', 'shipper.order.updated'])[e % 4 + 1]`;

/** The rows of each table for that day, counted from the first. */
function rowsOf(history: LogHistory, place: number): Record<string, Rows> {
  const { eventsPerDay, firstDay } = history;
  const { orders } = countsOf(history);
  const vehicles = Math.ceil(orders / (EVENTS_PER_VEHICLE / EVENTS_PER_ORDER));
  const first = place * eventsPerDay;
  const [startMs, everyMs] = [(firstDay + place) * DAY_MS, USED_MS / eventsPerDay];
  // `offset 0` keeps Postgres from generating a new guid at each use.
  const events = `
    (select e, md5('event' || e)::uuid as event, md5('order' || e % ${orders})::uuid::text as about,
       md5('vehicle' || e % ${vehicles})::uuid::text as vehicle, md5('account' || e % ${ACCOUNTS})::uuid as account,
       md5('subscription' || ${subscriptionOf('2 * e')})::uuid as one,
       md5('subscription' || ${subscriptionOf('2 * e + 1')})::uuid as other,
       to_timestamp((${startMs} + floor((e - ${first}) * ${everyMs})) / 1000.0) as at
     from generate_series(${first}, ${first + eventsPerDay - 1}) e offset 0) events`;
  return {
    events: {
      columns: {
        at: 'at',
        event: 'event',
        part: numberOf(`${ACTION} || ' ' || account || ' '`),
        account: 'account',
        action: ACTION,
        keys: `array['order_guid=' || about, 'vehicle_guid=' || vehicle]`,
        subscriptions: 'array[one, other]',
        ...STORED,
      },
      from: events,
    },
    keys: {
      columns: { number: numberOf('key'), at: 'at', event: 'event' },
      from: `${events}, lateral (values (about), (vehicle)) as each (key)`,
    },
    attempts: attemptsOf(events),
  };
}

const subscriptionOf = (delivery: string): string => `(${delivery}) % ${SUBSCRIPTIONS}`;

/** Computes in SQL what `numberOfKey` returns for a normalized key. */
const numberOf = (text: string): string =>
  `('x' || encode(substr(sha256((${text})::bytea), 1, 8), 'hex'))::bit(64)::bigint`;

/** The place of a body that is not there. */
const STORED = { chunk: 'hashint8extended(e / 600, 0)', place: 'e % 600' };

/** One delivery of each event succeeds at once, the other after retries in 1, 2 and 4 seconds. */
function attemptsOf(events: string): Rows {
  const isLast = '(is_one or a = 4)';
  return {
    columns: {
      at: `at + (2 ^ (a - 1) - 1) * interval '1 second' + interval '40 ms'`,
      delivery: 'delivery',
      attempt: 'a',
      kind: `case when ${isLast} then 'delivered' else 'failed' end`,
      event: 'event',
      subscription: 'subscription',
      reason: `case when not ${isLast} then 'http_5xx' end`,
      retry_at: `case when not ${isLast} then at + (2 ^ a - 1) * interval '1 second' end`,
      http_status: `case when ${isLast} then 200 else 503 end`,
      duration_ms: '40',
      url: `'https://receiver.example/webhooks/' || e % ${ACCOUNTS}`,
      ip: `'203.0.113.7'`,
      first_byte_ms: '39',
      answer: `case when ${isLast} then 'ok' else 'unavailable' end`,
      ...STORED,
    },
    from: `
      (select e, at, event, is_one, subscription, uuid_generate_v5(event, subscription::text) as delivery
       from ${events}, lateral (values (true, one), (false, other)) as each (is_one, subscription) offset 0) deliveries,
      generate_series(1, case when is_one then 1 else 4 end) a`,
  };
}
