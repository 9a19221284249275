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

/** A delivery that an event caused, and the attempt that is told with it. */
export type DeliveryRecord = Routed['deliveries'][number] &
  Pick<Routed, 'at' | 'event' | 'interface' | 'action'> & { first?: Delivered };

/** A key as it stands in the row of its event. */
export const writeKey = ({ kind, key }: Key): string => `${kind}=${key}`;

export function readKey(written: string): Key {
  const at = written.indexOf('=');
  return { kind: written.slice(0, at), key: written.slice(at + 1) };
}

/** The records that the rows of each table are made of. */
type Records = {
  events: Routed | Rejected;
  keys: Key & { at: number; event: string };
  kept_events: Pick<Routed, 'at' | 'event' | 'interface' | 'action'> & { account: string; kept: KeptEvent };
  deliveries: DeliveryRecord;
  attempts: Attempted;
  bodies: { at: number; delivery: string; body: string };
  deactivations: Deactivated;
};

/** What a record must have for an answer to be told of it: that of an attempt, or of the first one of a delivery. */
type WithAnswer<R> = (record: R) => Partial<Answer> | undefined;

/** What a receiver answered, in the row of an attempt, and in that of a delivery which tells of its first one. */
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
  /** Columns, and what else there is to say, of each index by its name; `unique` where it is that. */
  indexes?: Record<string, string>;
  /** Kept for as long as bodies are, which is shorter. */
  isShortLived?: true;
};

/** Says which records the rows of a table are made of. */
const table =
  <T extends keyof Records>(_name: T) =>
  <C extends Columns<Records[T]>>(described: OneTable<C>) =>
    described;

/** Conditions on attempts. Postgres uses the partial index of one where a query has the same words. */
export const NOT_DELIVERED = `kind in ('exhausted', 'dropped')`;
export const DELIVERED_OR_RETRIED = `kind not in ('exhausted', 'dropped')`;

/**
 * The tables of the log, each with a partition for every day (UTC): a row lies in the day of its record, whatever it is
 * about, so that the same record is the same row however often it comes.
 */
export const tables = {
  /** The router's verdict on an event, or that it was rejected. Suppressions are as in the record. */
  events: table('events')({
    columns: {
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
      // It could not always be told of what was rejected.
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

  /** Finds an order, a vehicle or an offer by each of its names, however it is spelled. */
  keys: table('keys')({
    columns: {
      key: column('text', ({ key }) => normalizedKey(key)),
      kind: column('text', ({ kind }) => kind),
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
    },
    constraints: ['primary key (key, at, event, kind)'],
  }),

  /** The deliveries that events caused, and whose they are; with the first attempt of most of those that succeeded at it. */
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
      // An account's are asked for by its subscriptions: each has one action, so that those of a rare one are found as quickly.
      deliveries_of_subscription: '(subscription, at)',
    },
  }),

  /** Attempts, but for those in the rows of their deliveries, and the ends of deliveries that come without one. */
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
      // Each row lies in exactly one of the two: together they find all of a subscription by time.
      attempts_on_the_way: `(subscription, at) where ${DELIVERED_OR_RETRIED}`,
    },
  }),

  /** What was sent, or was to be: kept for a shorter time, for it is what customers would rather see gone. */
  bodies: table('bodies')({
    columns: {
      at: column('moment', ({ at }) => at),
      delivery: column('uuid', ({ delivery }) => delivery),
      body: column('text', ({ body }) => body),
    },
    constraints: ['primary key (delivery, at)'],
    isShortLived: true,
  }),

  /** Events as upstream published them, for each account that they are for and that is known: what was not sent can be made of them. */
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

  /** Subscriptions that a rule switched off, and which delivery did it. */
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

// Every member is one of `tables`, which the type of `keys` does not say.
export const tableNames = Object.keys(tables) as TableName[];

/** The records of a batch, by table. */
export type LogRows = { [T in TableName]: Records[T][] };

/** A row of a table, as it is read. */
export type TableRow<T extends TableName> = RowOf<(typeof tables)[T]['columns']>;
export type AttemptRow = TableRow<'attempts'>;

export const isShortLived = (name: TableName): boolean => 'isShortLived' in tables[name];

export type AnyRecord = Records[TableName];

/** Columns and records of one table belong together, which the type of their union does not say. */
export function columnsOf(name: TableName): Columns<AnyRecord> {
  return tables[name].columns as Columns<AnyRecord>;
}
