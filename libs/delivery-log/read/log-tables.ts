import type { Queryable } from '@waybell/runtime/postgres';
import { ms, selected, time } from '../columns.ts';
import { tables, type TableRow } from '../tables.ts';
import type { PageRequest } from './cursor.ts';
import type { Reader } from './entries.ts';

export type EventRow = Omit<TableRow<'events'>, 'unknownMembers'>;
export type DeliveryRow = TableRow<'deliveries'>;

export type RejectionRow = { delivery: string; reason: string };

export type DeactivationRow = { delivery: string; at: number; rule: string };

/** Limit of the difference of two clocks: each may differ from Postgres' by CLOCK_LIMIT, half a minute by default. */
export const SKEW_MS = 60_000;

/** Whether attempts include receivers' answers, some KiB each: lists omit them. */
export type AttemptDetail = { withAnswers: boolean };

const { unknownMembers: _, ...TOLD_OF_EVENTS } = tables.events.columns;
const EVENT = selected(TOLD_OF_EVENTS, 'e');

/** Selects the columns of a delivery `d`. `isTold`: SQL for whether to include the receiver's answer. */
export const deliveryColumns = (isTold: string): string =>
  selected(tables.deliveries.columns, 'd', { answer: `case when ${isTold} then d.answer end` });

/** Selects the same of an attempt `a`. */
export const attemptColumns = (isTold: string): string =>
  selected(tables.attempts.columns, 'a', { answer: `case when ${isTold} then a.answer end` });

/** Selects events that a reader may see: an account sees only those that it receives. */
const OF_READER = `($1::uuid is null or ($1 = any (e.receivers) and e.interface = $2))`;

function readerValues(reader: Reader): [string | null, string | null] {
  return reader === 'operator' ? [null, null] : [reader.account, reader.interface];
}

/** A key to search for, as `normalizedKey` writes it, and its kind if given. */
export type AskedKey = { key: string; kind?: string | undefined };

/** Finds the events that have a key, newest first. */
export async function eventsAbout(
  postgres: Queryable,
  { about, reader, before, limit }: { about: AskedKey; reader: Reader } & PageRequest,
): Promise<EventRow[]> {
  const { rows } = await postgres.query<EventRow>({
    name: 'history-of-key',
    // Distinct: an event may have the same key under two kinds.
    text: `select ${EVENT} from (
             select at, event from delivery_log.keys
             where key = $3 and ($7::text is null or kind = $7) and ($4::float8 is null or (at, event) < (${time('$4')}, $5::uuid))
             group by at, event
           ) k
           join delivery_log.events e on e.event = k.event and e.at = k.at
           where ${OF_READER} order by k.at desc, k.event desc limit $6`,
    values: [...readerValues(reader), about.key, before?.at ?? null, before?.guid ?? null, limit, about.kind ?? null],
  });
  return rows;
}

/** Finds every record of an event, newest first. */
export async function eventByGuid(postgres: Queryable, event: string, reader: Reader): Promise<EventRow[]> {
  const { rows } = await postgres.query<EventRow>({
    name: 'history-of-event',
    text: `select ${EVENT} from delivery_log.events e where ${OF_READER} and e.event = $3 order by e.at desc`,
    values: [...readerValues(reader), event],
  });
  return rows;
}

/** Finds events by guid and time of their records. */
export async function eventsAt(
  postgres: Queryable,
  events: readonly Pick<EventRow, 'event' | 'at'>[],
  reader: Reader,
): Promise<EventRow[]> {
  if (events.length === 0) return [];
  const { rows } = await postgres.query<EventRow>({
    name: 'history-events-at',
    text: `select ${EVENT} from unnest($3::uuid[], $4::float8[]) as wanted (event, at_ms)
           join delivery_log.events e on e.event = wanted.event and e.at = ${time('at_ms')}
           where ${OF_READER} and e.rejected_delivery is null`,
    values: [...readerValues(reader), events.map(({ event }) => event), events.map(({ at }) => at)],
  });
  return rows;
}

/** Finds the deliveries made with these records. */
export async function deliveriesOf(
  postgres: Queryable,
  events: readonly Pick<EventRow, 'event' | 'at'>[],
  { withAnswers }: AttemptDetail,
): Promise<DeliveryRow[]> {
  if (events.length === 0) return [];
  const { rows } = await postgres.query<DeliveryRow>({
    name: 'history-deliveries-of-events',
    text: `select ${deliveryColumns('$3')} from unnest($1::uuid[], $2::float8[]) as wanted (event, at_ms)
           join delivery_log.deliveries d on d.event = wanted.event and d.at = to_timestamp(at_ms / 1000)
           order by d.delivery`,
    values: [events.map(({ event }) => event), events.map(({ at }) => at), withAnswers],
  });
  return rows;
}

/** Finds a delivery by guid; several, the first one first, if its event was routed again. */
export async function deliveriesByGuid(postgres: Queryable, delivery: string): Promise<DeliveryRow[]> {
  const { rows } = await postgres.query<DeliveryRow>({
    name: 'history-delivery',
    text: `select ${deliveryColumns('true')} from delivery_log.deliveries d where d.delivery = $1 order by d.at`,
    values: [delivery],
  });
  return rows;
}

/** Returns the body that was sent, while it is kept. */
export async function bodyOf(postgres: Queryable, delivery: string): Promise<string | undefined> {
  const { rows } = await postgres.query<{ body: string }>({
    name: 'history-body',
    text: 'select body from delivery_log.bodies where delivery = $1 order by at desc limit 1',
    values: [delivery],
  });
  return rows[0]?.body;
}

/** Finds why deliveries of these were rejected; the first reason comes last. */
export async function rejectionsOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'event'>[],
): Promise<RejectionRow[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<RejectionRow>({
    name: 'history-rejections',
    text: `select e.rejected_delivery as delivery, e.rejected_reason as reason
           from unnest($1::uuid[], $2::uuid[]) as wanted (delivery, event)
           cross join lateral (select * from delivery_log.events where event = wanted.event offset 0) e
           where e.rejected_delivery = wanted.delivery and e.rejected_reason is not null
           order by e.at desc`,
    values: [deliveries.map(({ delivery }) => delivery), deliveries.map(({ event }) => event)],
  });
  return rows;
}

/** Finds which of these deliveries switched their subscription off: when, and by which rule. */
export async function deactivationsBy(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery'>[],
): Promise<DeactivationRow[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<DeactivationRow>({
    name: 'history-deactivations',
    text: `select o.delivery, ${ms('o.at')} as at, o.rule from unnest($1::uuid[]) as wanted (delivery)
           cross join lateral (
             select * from delivery_log.deactivations where delivery = wanted.delivery offset 0
           ) o`,
    values: [deliveries.map(({ delivery }) => delivery)],
  });
  return rows;
}
