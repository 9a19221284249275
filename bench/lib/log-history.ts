import { createHash } from 'node:crypto';
import type pg from 'pg';
import { DAY_MS, dayOf } from '@waybell/delivery-log/write/partitions';

/**
 * A delivery log as a month leaves it, made by Postgres itself. Every event is about an order and a vehicle and goes to two
 * subscribers; one takes it at once, the other at the fourth attempt. An order has ten events, three days apart. Of
 * everything the guid follows from its number, so that anyone can ask for it.
 */
export type LogHistory = { eventsPerDay: number; firstDay: number };

const DAYS = 30;
const EVENTS_PER_ORDER = 10;
const EVENTS_PER_VEHICLE = 100;
export const DELIVERIES_PER_EVENT = 2;
const ACCOUNTS = 1_000;
const ATTEMPTS_PER_EVENT = 5;
/** The last retry of a day's last event is still of that day. */
const USED_MS = DAY_MS - 60_000;

/** So many attempts, or a few more, of the thirty days before today. */
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

export function guidOf(kind: 'order' | 'delivery', n: number): string {
  const hex = createHash('md5').update(`${kind}${n}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Each day is filled as tables without an index, which are then attached: that builds their indexes. Two at once. */
export async function fillLog(postgres: pg.Pool, history: LogHistory, tell: (line: string) => void): Promise<void> {
  const places = Array.from({ length: DAYS }, (_, place) => place).values();
  const fill = async () => {
    for (const place of places) {
      if (place % 10 === 0) tell(`filling day ${place + 1} of ${DAYS}`);
      const day = history.firstDay + place;
      for (const [table, rows] of Object.entries(rowsOf(history, place))) await fillDay(postgres, { table, day, rows });
    }
  };
  await Promise.all([fill(), fill()]);
}

type Day = { table: string; day: number; rows: string };

async function fillDay(postgres: pg.Pool, { table, day, rows }: Day): Promise<void> {
  const date = (n: number) => new Date(n * DAY_MS).toISOString().slice(0, 10);
  const parent = `delivery_log.${table}`;
  const name = `${parent}_${date(day).replaceAll('-', '')}`;
  // It is not needed after a crash, and half as much is written.
  await postgres.query(`create unlogged table ${name} (like ${parent})`);
  await postgres.query(`insert into ${name} ${rows}`);
  await postgres.query(
    `alter table ${parent} attach partition ${name} for values from ('${date(day)} 00:00Z') to ('${date(day + 1)} 00:00Z')`,
  );
  await postgres.query(`vacuum analyze ${name}`);
}

/** The rows of each table for that day, counted from the first. */
function rowsOf(history: LogHistory, place: number): Record<string, string> {
  const { eventsPerDay, firstDay } = history;
  const { orders } = countsOf(history);
  const vehicles = Math.ceil(orders / (EVENTS_PER_VEHICLE / EVENTS_PER_ORDER));
  const first = place * eventsPerDay;
  const [startMs, everyMs] = [(firstDay + place) * DAY_MS, USED_MS / eventsPerDay];
  const events = `
    (select e, md5('event' || e)::uuid as event, md5('order' || e % ${orders})::uuid as about,
       md5('vehicle' || e % ${vehicles})::uuid as vehicle,
       (array['order.created', 'order.delivered', 'offer.sent', 'order.updated'])[e % 4 + 1] as action,
       to_timestamp((${startMs} + floor((e - ${first}) * ${everyMs})) / 1000.0) as at
     from generate_series(${first}, ${first + eventsPerDay - 1}) e) events`;
  const deliveries = `${events}, generate_series(${DELIVERIES_PER_EVENT} * e, ${DELIVERIES_PER_EVENT} * e + 1) d`;
  const account = `md5('account' || e % ${ACCOUNTS})::uuid`;
  const subscription = `md5('subscription' || d % ${ACCOUNTS * DELIVERIES_PER_EVENT})::uuid`;
  return {
    events: `select at, event, 'shipper', action, array[${account}], array['order_guid=' || about, 'vehicle_guid=' || vehicle], null, null from ${events}`,
    keys: `select about::text, 'order_guid', at, event from ${events} union all select vehicle::text, 'vehicle_guid', at, event from ${events}`,
    deliveries: `select at, md5('delivery' || d)::uuid, event, 'shipper', action, ${subscription}, ${account},
                   'client ' || d % 2, case when d % 2 = 0 then at + interval '40 ms' end,
                   ${ANSWERED.map((column) => `case when d % 2 = 0 then ${column} end`).join(', ')} from ${deliveries}, ${answer('d % 2 = 0')}`,
    attempts: attemptsOf({ deliveries, subscription }),
  };
}

const ANSWERED = ['status', 'duration_ms', 'url', 'ip', 'dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms', 'said'];

function answer(isDelivered: string): string {
  return `
    lateral (select case when ${isDelivered} then 200 else 503 end, 40, 'https://receiver.example/webhooks/' || d % 2000,
      '203.0.113.7', null::int, null::int, null::int, 39, case when ${isDelivered} then 'ok' else 'unavailable' end) as answer
      (${ANSWERED.join(', ')})`;
}

/** At once, and after 1, 2 and 4 seconds; without those that succeed at once, which lie in the rows of their deliveries. */
function attemptsOf({ deliveries, subscription }: { deliveries: string; subscription: string }): string {
  return `
    select at + (2 ^ (a - 1) - 1) * interval '1 second' + interval '40 ms', md5('delivery' || d)::uuid, a,
      case when a = 4 then 'delivered' else 'failed' end, ${subscription}, null, null,
      case when a < 4 then 'http_5xx' end, case when a < 4 then at + (2 ^ a - 1) * interval '1 second' end,
      ${ANSWERED.join(', ')}
    from ${deliveries}, generate_series(1, 4) a, ${answer('a = 4')}
    where d % 2 = 1`;
}
