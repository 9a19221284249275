import {
  whyOf,
  type Answer,
  type Attempted,
  type Deactivated,
  type Delivered,
  type KeptEvent,
  type Key,
  type Rejected,
  type Routed,
} from '@waybell/line/outcomes';
import { normalizedKey } from '@waybell/events/keys';
import { column, optional, type Columns, type RowOf } from './columns.ts';

/** A delivery that an event caused; `first`: the attempt stored in its row. */
export type DeliveryRecord = Routed['deliveries'][number] &
  Pick<Routed, 'at' | 'event' | 'interface' | 'action'> & { first?: Delivered };

/** Writes a key as the row of its event holds it. */
export const writeKey = ({ kind, key }: Key): string => `${kind}=${key}`;

export function readKey(written: string): Key {
  const at = written.indexOf('=');
  return { kind: written.slice(0, at), key: written.slice(at + 1) };
}

/** The records that each table's rows are made from. */
type Records = {
  events: Routed | Rejected;
  keys: Key & { at: number; event: string };
  kept_events: Pick<Routed, 'at' | 'event' | 'interface' | 'action'> & { account: string; kept: KeptEvent };
  deliveries: DeliveryRecord;
  attempts: Attempted;
  bodies: { at: number; delivery: string; body: string };
  deactivations: Deactivated;
};

/** Returns the answer of a record: of an attempt, or of the first attempt in the row of a delivery. */
type WithAnswer<R> = (record: R) => Partial<Answer> | undefined;

/** Columns of a receiver's answer, for rows of attempts and for rows of deliveries with their first attempt. */
const answered = <R>(answerOf: WithAnswer<R>) => {
  const of =
    <K extends keyof Answer>(member: K) =>
    (record: R) =>
      answerOf(record)?.[member];
  return {
    httpStatus: optional('smallint', of('status')),
    durationMs: optional('int', of('durationMs')),
    url: optional('text', of('url')),
    ip: optional('text', of('ip')),
    dnsMs: optional('int', of('dnsMs')),
    connectMs: optional('int', of('connectMs')),
    tlsMs: optional('int', of('tlsMs')),
    firstByteMs: optional('int', of('firstByteMs')),
    answer: optional('text', of('body')),
  } satisfies Columns<R>;
};

type OneTable<C> = {
  columns: C;
  /** Constraints of the table, beside its columns. */
  constraints?: readonly string[];
  /** The definition of each index by its name: its columns and conditions, after `unique` if it is that. */
  indexes?: Record<string, string>;
  /** Dropped with the bodies, earlier than other tables. */
  isShortLived?: true;
};

/** Declares the records that a table's rows are made from. */
const table =
  <T extends keyof Records>(_name: T) =>
  <C extends Columns<Records[T]>>(described: OneTable<C>) =>
    described;

/** Conditions on attempts. Postgres uses the partial index of a condition only for queries with the same text. */
export const NOT_DELIVERED = `kind in ('exhausted', 'dropped')`;
export const DELIVERED_OR_RETRIED = `kind not in ('exhausted', 'dropped')`;

/**
 * The tables of the log, each with a partition for every day (UTC). The time of a row is that of its record, so that the same
 * record makes the same row however often it comes.
 */
export const tables = {
  /** The router's result for an event, or that it was rejected. Suppressions are stored as in the record. */
  events: table('events')({
    columns: {
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
      // Rejected events may not name it.
      interface: optional('text', (record) => record.interface ?? undefined),
      action: column('text', ({ action }) => action),
      receivers: column('uuid[]', ({ receivers }) => receivers),
      keys: column('text[]', ({ keys }) => keys.map(writeKey)),
      suppressed: optional('jsonb', (record) =>
        record.kind === 'routed' && record.suppressed.length > 0 ? record.suppressed : undefined,
      ),
      unknownMembers: optional('int', (record) =>
        record.kind === 'routed' ? record.unknownMembers || undefined : undefined,
      ),
      rejectedReason: optional('text', (record) => (record.kind === 'rejected' ? record.reason : undefined)),
      rejectedDetail: optional('text', (record) => (record.kind === 'rejected' ? record.detail : undefined)),
      rejectedDelivery: optional('uuid', (record) => (record.kind === 'rejected' ? record.delivery : undefined)),
    },
    // Two deliveries of one event can be rejected in the same millisecond: each is a row of its own.
    indexes: { events_once: "unique (event, at, coalesce(interface, ''), action, coalesce(rejected_delivery, event))" },
  }),

  /** Finds an order, a vehicle or an offer by each of its keys, however they are spelled. */
  keys: table('keys')({
    columns: {
      key: column('text', ({ key }) => normalizedKey(key)),
      kind: column('text', ({ kind }) => kind),
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
    },
    constraints: ['primary key (key, at, event, kind)'],
  }),

  /** The deliveries that events caused, with their owners, and with the first attempt of most that succeeded at it. */
  deliveries: table('deliveries')({
    columns: {
      at: column('moment', ({ at }) => at),
      delivery: column('uuid', ({ delivery }) => delivery),
      event: column('uuid', ({ event }) => event),
      interface: column('text', (record) => record.interface),
      action: column('text', ({ action }) => action),
      subscription: column('uuid', ({ subscription }) => subscription),
      account: column('uuid', ({ account }) => account),
      client: column('text', ({ client }) => client),
      attemptedAt: optional('moment', ({ first }) => first?.at),
      ...answered<DeliveryRecord>(({ first }) => first?.answer),
    },
    constraints: ['primary key (delivery, at)'],
    indexes: {
      deliveries_of_event: '(event, at)',
      // An account's deliveries are found by its subscriptions: each has one action, so rare actions are found as fast as others.
      deliveries_of_subscription: '(subscription, at)',
    },
  }),

  /** Attempts, except those in the rows of their deliveries; and ends of deliveries without an attempt. */
  attempts: table('attempts')({
    columns: {
      at: column('moment', ({ at }) => at),
      delivery: column('uuid', ({ delivery }) => delivery),
      attempt: column('int', ({ attempt }) => attempt),
      kind: column('text', ({ kind }) => kind),
      subscription: column('uuid', ({ subscription }) => subscription),
      parked: optional('text', ({ parked }) => parked),
      byHand: optional('text', ({ byHand }) => byHand),
      reason: optional('text', (record): string | undefined => whyOf(record)),
      retryAt: optional('moment', (record) => (record.kind === 'failed' ? record.retryAt : undefined)),
      brokenRule: optional('text', (record) => ('answer' in record ? record.answer.brokenRule : undefined)),
      ...answered<Attempted>((record) => ('answer' in record ? record.answer : undefined)),
    },
    constraints: ['primary key (delivery, at, attempt)'],
    indexes: {
      attempts_in_vain: `(subscription, at) where ${NOT_DELIVERED}`,
      // Each row is in exactly one of the two indexes: together they find all attempts of a subscription by time.
      attempts_on_the_way: `(subscription, at) where ${DELIVERED_OR_RETRIED}`,
    },
  }),

  /** Bodies sent, or to be sent. Kept for a shorter time: customers would rather see them gone. */
  bodies: table('bodies')({
    columns: {
      at: column('moment', ({ at }) => at),
      delivery: column('uuid', ({ delivery }) => delivery),
      body: column('text', ({ body }) => body),
    },
    constraints: ['primary key (delivery, at)'],
    isShortLived: true,
  }),

  /** Events as upstream published them, one row for each known receiver: deliveries that were not made can be made from them. */
  kept_events: table('kept_events')({
    columns: {
      account: column('uuid', ({ account }) => account),
      interface: column('text', (record) => record.interface),
      action: column('text', ({ action }) => action),
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
      contentType: optional('text', ({ kept }) => kept.contentType),
      body: column('text', ({ kept }) => kept.body.toString()),
    },
    constraints: ['primary key (account, action, at, event)'],
    isShortLived: true,
  }),

  /** Subscriptions that a rule switched off, with the delivery that caused it. */
  deactivations: table('deactivations')({
    columns: {
      at: column('moment', ({ at }) => at),
      subscription: column('uuid', ({ subscription }) => subscription),
      generation: column('int', ({ generation }) => generation),
      account: column('uuid', ({ account }) => account),
      client: column('text', ({ client }) => client),
      interface: column('text', (record) => record.interface),
      action: column('text', ({ action }) => action),
      rule: column('text', ({ rule }) => rule),
      delivery: optional('uuid', ({ delivery }) => delivery),
    },
    constraints: ['primary key (subscription, generation, at)'],
    indexes: { deactivations_by_delivery: '(delivery, at)' },
  }),
};

export type TableName = keyof Records;

// `keys` does not type its result: every member is a table of `tables`.
export const tableNames = Object.keys(tables) as TableName[];

export type LogRows = { [T in TableName]: Records[T][] };

export type TableRow<T extends TableName> = RowOf<(typeof tables)[T]['columns']>;
export type AttemptRow = TableRow<'attempts'>;

export const isShortLived = (name: TableName): boolean => 'isShortLived' in tables[name];

export type AnyRecord = Records[TableName];

/** Columns and records of one table match, which their union type cannot express. */
export function columnsOf(name: TableName): Columns<AnyRecord> {
  return tables[name].columns as Columns<AnyRecord>;
}
