import type { InterfaceName, Suppression } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Cursor, Reader } from './entries.ts';

export type EventRow = {
  at: number;
  event: string;
  interface: InterfaceName;
  action: string;
  receivers: string[];
  subjects: string[];
  suppressed: Suppression[] | null;
  rejected_reason: string | null;
  rejected_detail: string | null;
  rejected_delivery: string | null;
};

export type DeliveryRow = Answered & {
  at: number;
  delivery: string;
  event: string;
  interface: InterfaceName;
  action: string;
  subscription: string;
  account: string;
  client: string;
  /** When its first attempt succeeded, where its row tells of that. */
  attempted_at: number | null;
};

/** What a receiver answered. */
export type Answered = {
  status: number | null;
  duration_ms: number | null;
  url: string | null;
  ip: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  answer: string | null;
};

export type RejectionRow = { delivery: string; reason: string };

export type DeactivationRow = { at: number; subscription: string; rule: string };

/** Clocks of router and deliverer may differ: a minute is more than they do. */
export const SKEW_MS = 60_000;

/** Whether what receivers answered is told as well: some KiB for each attempt, which swell a list. */
export type Told = { withAnswers: boolean };

type Paging = { before?: Cursor | undefined; limit: number };

/** In milliseconds since the epoch, as a number. */
export const ms = (column: string, as = column.replace(/^.*\./, '')): string =>
  `round(extract(epoch from ${column}) * 1000)::float8 as ${as}`;
export const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

const EVENT = `${ms('e.at')}, e.event, e.interface, e.action, e.receivers, e.subjects, e.suppressed, e.rejected_reason,
  e.rejected_detail, e.rejected_delivery`;
/** The columns of `Answered`. `isTold`: whether with what the receiver said, in SQL. */
export const answerColumns = (table: string, isTold: string): string =>
  `${['status', 'duration_ms', 'url', 'ip', 'dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms'].map((name) => `${table}.${name}`).join(', ')},
  case when ${isTold} then ${table}.answer end as answer`;
export const deliveryColumns = (isTold: string): string =>
  `${ms('d.at')}, d.delivery, d.event, d.interface, d.action, d.subscription, d.account, d.client, ${ms('d.attempted_at')},
  ${answerColumns('d', isTold)}`;

/** Whom an event row concerns. An account is told nothing of an event that is for others. */
const OF_READER = `($1::uuid is null or ($1 = any (e.receivers) and e.interface = $2))`;

function readerValues(reader: Reader): [string | null, string | null] {
  return reader === 'operator' ? [null, null] : [reader.account, reader.interface];
}

/** What happened to everything about a subject, newest first. */
export async function eventsAbout(
  postgres: Queryable,
  { subject, reader, before, limit }: { subject: string; reader: Reader } & Paging,
): Promise<EventRow[]> {
  const { rows } = await postgres.query<EventRow>({
    name: 'history-of-subject',
    text: `select ${EVENT} from delivery_log.subjects s
           join delivery_log.events e on e.event = s.event and e.at = s.at
           where ${OF_READER} and s.subject = $3 and ($4::float8 is null or (s.at, s.event) < (${time('$4')}, $5::uuid))
           order by s.at desc, s.event desc limit $6`,
    values: [...readerValues(reader), subject, before?.at ?? null, before?.guid ?? null, limit],
  });
  return rows;
}

/** Every verdict on an event, newest first. */
export async function eventByGuid(postgres: Queryable, event: string, reader: Reader): Promise<EventRow[]> {
  const { rows } = await postgres.query<EventRow>({
    name: 'history-of-event',
    text: `select ${EVENT} from delivery_log.events e where ${OF_READER} and e.event = $3 order by e.at desc`,
    values: [...readerValues(reader), event],
  });
  return rows;
}

/** The deliveries that were made when these verdicts were given. */
export async function deliveriesOf(
  postgres: Queryable,
  events: readonly Pick<EventRow, 'event' | 'at'>[],
  { withAnswers }: Told,
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

/** A delivery by its guid; several where its event was routed again, the first one first. */
export async function deliveriesByGuid(postgres: Queryable, delivery: string): Promise<DeliveryRow[]> {
  const { rows } = await postgres.query<DeliveryRow>({
    name: 'history-delivery',
    text: `select ${deliveryColumns('true')} from delivery_log.deliveries d where d.delivery = $1 order by d.at`,
    values: [delivery],
  });
  return rows;
}

/** What was sent, as far as it is still kept. */
export async function bodyOf(postgres: Queryable, delivery: string): Promise<string | undefined> {
  const { rows } = await postgres.query<{ body: string }>({
    name: 'history-body',
    text: 'select body from delivery_log.bodies where delivery = $1 order by at desc limit 1',
    values: [delivery],
  });
  return rows[0]?.body;
}

/** Why deliveries of these were given up on the way; the reason that was the first comes last. */
export async function rejectionsOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'delivery' | 'event' | 'at'>[],
): Promise<RejectionRow[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<RejectionRow>({
    name: 'history-rejections',
    text: `select e.rejected_delivery as delivery, e.rejected_reason as reason
           from unnest($1::uuid[], $2::uuid[], $3::float8[]) as wanted (delivery, event, from_ms)
           cross join lateral (
             select * from delivery_log.events where event = wanted.event and at >= ${time('from_ms')} offset 0
           ) e
           where e.rejected_delivery = wanted.delivery and e.rejected_reason is not null
           order by e.at desc`,
    values: [
      deliveries.map(({ delivery }) => delivery),
      deliveries.map(({ event }) => event),
      deliveries.map(({ at }) => at - SKEW_MS),
    ],
  });
  return rows;
}

/** When these subscriptions were switched off by a rule, since a time. */
export async function deactivationsOf(
  postgres: Queryable,
  deliveries: readonly Pick<DeliveryRow, 'account' | 'subscription' | 'at'>[],
): Promise<DeactivationRow[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<DeactivationRow>({
    name: 'history-deactivations',
    text: `select ${ms('at')}, subject_guid as subscription, details ->> 'deactivation_rule' as rule
           from waybell.audit_log
           where account_guid = any ($1::uuid[]) and subject_guid = any ($2::uuid[]) and at > ${time('$3')}
             and what = 'subscription.changed' and details ->> 'deactivation_rule' is not null
           order by at`,
    values: [
      [...new Set(deliveries.map(({ account }) => account))],
      [...new Set(deliveries.map(({ subscription }) => subscription))],
      Math.min(...deliveries.map(({ at }) => at)),
    ],
  });
  return rows;
}
