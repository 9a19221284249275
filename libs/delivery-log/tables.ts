/**
 * The tables of the delivery log, each described once: its columns, its primary key and its indexes, and the part of a record that
 * each of its rows is made from. `columns.ts` has the kinds of columns, `schema.ts` the statements that create the tables.
 */
import { hash } from 'node:crypto';
import { normalizedKey } from '@waybell/events/event';
import {
  whyOf,
  type Answer,
  type Deactivated,
  type InterfaceName,
  type Key,
  type Rejected,
  type Attempted,
  type Routed,
  type Suppression,
} from '@waybell/line/outcomes';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** The part of a record about one event and one account. */
export type EventPart = {
  readonly record: Routed | Rejected;
  /** Undefined if the record names no account. */
  readonly account: string | undefined;
  readonly subscriptions: readonly string[];
  readonly suppressed: readonly Suppression[];
  /** Distinguishes rows of the same event and time: `partOf` its account, action and rejected delivery. */
  readonly part: string;
  /** The chunk that lists its deliveries, once there is one. */
  chunk: string | undefined;
  /** The place of the event's own body in that chunk, if it is kept there. */
  place: number | undefined;
};

/** An attempt, or an end without one; its chunk, once there is one, and the place of its body in it. */
export type AttemptPart = { readonly record: Attempted; chunk: string | undefined; place: number | undefined };

type ChunkPart = {
  chunk: string;
  /** Times of its first and last record. */
  at: number;
  until: number;
  /** The first PREFIX_BYTES of each delivery that its events caused. */
  deliveries: Buffer;
  /** The bytes that `packChunk` wrote. */
  bytes: Buffer;
};

/** A chunk's place in the order of commits, when that was, and the times of its first and last record. */
type Commit = { number: string; at: number; chunk: string; firstAt: number; lastAt: number };

/** The parts that each table's rows are made from. */
type TableParts = {
  events: EventPart;
  keys: { number: string; at: number; event: string };
  attempts: AttemptPart;
  chunks: ChunkPart;
  commits: Commit;
  deactivations: Deactivated;
};

/** Enough to distinguish one delivery from all others of a chunk. */
export const PREFIX_BYTES = 4;

/** Writes a key as the row of its event holds it. */
const writeKey = ({ kind, key }: Key): string => `${kind}=${key}`;

export function readKey(written: string): Key {
  const at = written.indexOf('=');
  return { kind: written.slice(0, at), key: written.slice(at + 1) };
}

/** Names an action together with its interface, which rejected events may not name. */
export const writeAction = (interfaceName: InterfaceName | null, action: string): string =>
  `${interfaceName ?? ''}.${action}`;

export function readAction(written: string): { interface: InterfaceName | null; action: string } {
  const at = written.indexOf('.');
  // `writeAction` wrote one of the two, or none.
  return { interface: (written.slice(0, at) || null) as InterfaceName | null, action: written.slice(at + 1) };
}

/** The number of a key, as bytes: reused for each. */
const firstBytes = new DataView(new ArrayBuffer(8));
const firstOf = Buffer.from(firstBytes.buffer);

/** Returns the number by which a key is found: the first 8 bytes of the SHA-256 of its normalized text, signed. */
export function numberOfKey(key: string): string {
  firstOf.write(hash('sha256', normalizedKey(key), 'latin1'), 'latin1');
  return firstBytes.getBigInt64(0).toString();
}

/** Returns the number by which an account's events of an action are found, as `writeAction` writes it. */
export const partOf = (account: string, action: string, delivery = ''): string =>
  numberOfKey(`${action} ${account} ${delivery}`);

type OneTable<C> = {
  columns: C;
  /** The members of its primary key, in this order. */
  identity?: readonly (keyof C & string)[];
  /** The definition of each index by its name: its columns and conditions. */
  indexes?: Record<string, string>;
  /** Columns that quote others: Postgres keeps no samples of them for its plans, which `forget` would not reach. */
  quoting?: readonly (keyof C & string)[];
  /** Dropped earlier than other tables. */
  isShortLived?: true;
};

/** Describes a table whose rows are made from the parts of this name. */
const table =
  <T extends keyof TableParts>(_name: T) =>
  <C extends Columns<TableParts[T]>>(described: OneTable<C>) =>
    described;

const answered = <K extends keyof Answer>(member: K) => {
  return ({ record }: AttemptPart) => ('answer' in record ? record.answer[member] : undefined);
};

const rejected = <K extends keyof Rejected>(member: K) => {
  return ({ record }: EventPart) => (record.kind === 'rejected' ? record[member] : undefined);
};

/** Conditions on attempts. Postgres uses the partial index of a condition only for queries with the same text. */
export const NOT_DELIVERED = `kind in ('exhausted', 'dropped')`;
export const DELIVERED_OR_RETRIED = `kind not in ('exhausted', 'dropped')`;

/** True for a commit with something that happened longer before it than the log is behind while all is well. */
export const IS_LATE = `at - first_at > interval '50 seconds'`;

/**
 * The tables of the log, each with a partition for every day (UTC). The time of a row is that of its record, so that the same
 * record makes the same row however often it comes.
 */
export const tables = {
  /**
   * The router's result for an event, or its rejection: a row for each account. The deliveries that it caused are its
   * `subscriptions`: their guids follow (`messageGuid`). A row without deliveries and suppressions means that the account had no
   * subscription.
   */
  events: table('events')({
    columns: {
      at: column('moment', ({ record }) => record.at),
      event: column('uuid', ({ record }) => record.event),
      part: column('bigint', ({ part }) => part),
      account: optional('uuid', ({ account }) => account),
      action: column('text', ({ record }) => writeAction(record.interface, record.action)),
      keys: column('text[]', ({ record }) => record.keys.map(writeKey)),
      subscriptions: optional('uuid[]', ({ subscriptions }) => (subscriptions.length > 0 ? subscriptions : undefined)),
      suppressed: optional('jsonb', ({ suppressed }) => (suppressed.length > 0 ? suppressed : undefined)),
      rejectedReason: optional('text', rejected('reason')),
      rejectedDetail: optional('text', rejected('detail')),
      rejectedDelivery: optional('uuid', rejected('delivery')),
      contentType: optional('text', ({ record, place }) =>
        record.kind === 'routed' && place !== undefined ? record.kept?.contentType : undefined,
      ),
      chunk: optional('bigint', ({ chunk }) => chunk),
      place: optional('int', ({ place }) => place),
    },
    identity: ['event', 'at', 'part'],
    indexes: {
      // Deliveries of a subscription are found by this too: one that has no attempt yet is nowhere else.
      events_of_account: '(part, at)',
      events_by_time: 'using brin (at) with (autosummarize = on)',
    },
    quoting: ['rejectedDetail'],
  }),

  /** Finds an order, a vehicle or an offer by each of its keys, however they are spelled; the rows of the event have the keys. */
  keys: table('keys')({
    columns: {
      number: column('bigint', ({ number }) => number),
      at: column('moment', ({ at }) => at),
      event: column('uuid', ({ event }) => event),
    },
    indexes: { keys_by_number: '(number, at)' },
  }),

  /** Attempts, and ends of deliveries without an attempt. */
  attempts: table('attempts')({
    columns: {
      at: column('moment', ({ record }) => record.at),
      delivery: column('uuid', ({ record }) => record.delivery),
      attempt: column('int', ({ record }) => record.attempt),
      kind: column('text', ({ record }) => record.kind),
      event: column('uuid', ({ record }) => record.event),
      subscription: column('uuid', ({ record }) => record.subscription),
      waited: optional('text', ({ record }) => record.waited),
      byHand: optional('text', ({ record }) => record.byHand),
      reason: optional('text', ({ record }): string | undefined => whyOf(record)),
      retryAt: optional('moment', ({ record }) => (record.kind === 'failed' ? record.retryAt : undefined)),
      brokenRule: optional('text', answered('brokenRule')),
      error: optional('text', answered('error')),
      location: optional('text', answered('location')),
      httpStatus: optional('smallint', answered('status')),
      durationMs: optional('int', answered('durationMs')),
      url: optional('text', answered('url')),
      ip: optional('text', answered('ip')),
      dnsMs: optional('int', answered('dnsMs')),
      connectMs: optional('int', answered('connectMs')),
      tlsMs: optional('int', answered('tlsMs')),
      firstByteMs: optional('int', answered('firstByteMs')),
      answer: optional('text', answered('body')),
      // The chunk that it was written with; `place` there if that chunk holds the body.
      chunk: optional('bigint', ({ chunk }) => chunk),
      place: optional('int', ({ place }) => place),
    },
    identity: ['delivery', 'at', 'attempt'],
    indexes: {
      attempts_in_vain: `(subscription, at) where ${NOT_DELIVERED}`,
      // For operators: of all subscriptions. Only failed attempts pay for it.
      attempts_in_vain_by_time: `(at) where ${NOT_DELIVERED}`,
      // Each row is in exactly one of the two indexes: together they find all attempts of a subscription by time.
      attempts_on_the_way: `(subscription, at) where ${DELIVERED_OR_RETRIED}`,
      attempts_by_time: 'using brin (at) with (autosummarize = on)',
    },
    quoting: ['answer', 'location'],
  }),

  /** Bodies published and sent, of many events and attempts together. Kept for a shorter time than the rows, for privacy. */
  chunks: table('chunks')({
    columns: {
      chunk: column('bigint', ({ chunk }) => chunk),
      at: column('moment', ({ at }) => at),
      until: column('moment', ({ until }) => until),
      deliveries: column('bytea', ({ deliveries }) => deliveries),
      bytes: column('bytea', ({ bytes }) => bytes),
    },
    identity: ['chunk', 'at'],
    isShortLived: true,
  }),

  /** Chunks in the order in which they were committed: once one is seen, all with lower numbers are, or never will be. */
  commits: table('commits')({
    columns: {
      number: column('bigint', ({ number }) => number),
      // Time of the commit: chunks are dropped in this order, as far as clocks agree.
      at: column('moment', ({ at }) => at),
      chunk: column('bigint', ({ chunk }) => chunk),
      firstAt: column('moment', ({ firstAt }) => firstAt),
      lastAt: column('moment', ({ lastAt }) => lastAt),
    },
    identity: ['number', 'at'],
    indexes: { commits_late: `(at) where ${IS_LATE}` },
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
    identity: ['subscription', 'generation', 'at'],
    indexes: { deactivations_by_delivery: '(delivery, at)' },
  }),
};

export type TableName = keyof TableParts;

// `keys` does not type its result: every member is a table of `tables`.
export const tableNames = Object.keys(tables) as TableName[];

/** The tables whose rows a writer makes; those of `commits` Postgres makes. */
export type WrittenTable = Exclude<TableName, 'commits'>;

export const writtenTables = tableNames.filter((name): name is WrittenTable => name !== 'commits');

export type LogRows = { [T in WrittenTable]: TableParts[T][] };

export type TableRow<T extends TableName> = RowOf<(typeof tables)[T]['columns']>;

/** An attempt without the place of its body. */
export type AttemptRow = Omit<TableRow<'attempts'>, 'chunk' | 'place'>;

export type AnyPart = TableParts[TableName];

export const isShortLived = (name: TableName): boolean => 'isShortLived' in tables[name];

/** Columns and parts of one table match, which their union type cannot express. */
export function columnsOf(name: TableName): Columns<AnyPart> {
  return tables[name].columns as Columns<AnyPart>;
}

export function quotingOf(name: TableName): readonly string[] {
  const { quoting = [] }: { quoting?: readonly string[] } = tables[name];
  return quoting;
}

/** The members of a table's primary key; none without one. */
export function identityOf(name: TableName): readonly string[] {
  const { identity = [] }: { identity?: readonly string[] } = tables[name];
  return identity;
}

/**
 * Describes columns of the log once, in `tables.ts`. Statements that copy and select, the types of rows read, and the tables in
 * Postgres follow from it.
 */

/** The type of a column. In memory, a moment is milliseconds since the epoch, and a bigint its digits. */
type ColumnKind = 'uuid' | 'text' | 'int' | 'smallint' | 'bigint' | 'moment' | 'uuid[]' | 'text[]' | 'jsonb' | 'bytea';

/** A column written from a record `R` and read as `V`. */
type Column<R, V> = {
  kind: ColumnKind;
  /** Whether the column is not null. */
  isGiven: boolean;
  /** Throws RangeError if a moment is invalid. */
  of: (record: R) => V | undefined;
};

export type Columns<R> = Record<string, Column<R, unknown>>;

/** A row as it is read. */
type RowOf<C> = { [Name in keyof C]: C[Name] extends Column<never, infer V> ? V : never };

/** A column that every row has. */
function column<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, V> {
  return { kind, isGiven: true, of };
}

/** A column that may be null. */
function optional<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, Exclude<V, undefined> | null> {
  // A missing value is null in Postgres and when read.
  return { kind, isGiven: false, of: (record) => (of(record) ?? null) as Exclude<V, undefined> | null };
}

/** Returns the name in Postgres: `tls_ms` for `tlsMs`. */
export const columnNameOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const TYPES: Partial<Record<ColumnKind, string>> = { moment: 'timestamptz' };

export const typeOf = (kind: ColumnKind): string => TYPES[kind] ?? kind;

/** Converts to milliseconds since the epoch, as a number. */
export const ms = (expression: string): string => `round(extract(epoch from ${expression}) * 1000)::float8`;

/** Converts a parameter in milliseconds since the epoch to a moment. */
export const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** Selects the columns of a table, named as in its row. `alias`: the query's name of the table. */
export function selected(columns: Columns<never>, alias: string, replaced: Record<string, string> = {}): string {
  return Object.entries(columns)
    .map(([member, { kind }]) => {
      const place = `${alias}.${columnNameOf(member)}`;
      return `${replaced[member] ?? (kind === 'moment' ? ms(place) : place)} as "${member}"`;
    })
    .join(', ');
}

const NULL = '\\N';

/** Returns a function that writes a record's value of a column in the text format of COPY. */
export function writerOf<R>({ kind, of }: Column<R, unknown>): (record: R) => string {
  // The kind of a column determines its values' type.
  const write = WRITERS[kind]() as (value: unknown) => string;
  return (record) => {
    const value = of(record);
    return value === null || value === undefined ? NULL : write(value);
  };
}

const WRITERS: Record<ColumnKind, () => (value: never) => string> = {
  uuid: () => (guid: string) => guid,
  text: () => escaped,
  int: () => String,
  smallint: () => String,
  bigint: () => String,
  moment: writeMoment,
  'uuid[]': () => (guids: readonly string[]) => `{${guids.join(',')}}`,
  'text[]': () => listOf,
  jsonb: () => (value: unknown) => escaped(JSON.stringify(value)),
  bytea: () => (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`,
};

function writeMoment(): (ms: number) => string {
  // Adjacent rows mostly have the same moment.
  let [last, text] = [Number.NaN, ''];
  return (moment) => {
    if (moment !== last) text = new Date(moment).toISOString();
    last = moment;
    return text;
  };
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (special) => ESCAPED[special] ?? special) : text;
}

/** Writes an array of texts. */
function listOf(texts: readonly string[]): string {
  return texts.length === 0 ? '{}' : `{"${texts.map((text) => escaped(quoted(text))).join('","')}"}`;
}

const quoted = (text: string): string => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text);

/** Records stored together are similar: the fastest level removes most of the redundancy. */
const FASTEST = { [constants.ZSTD_c_compressionLevel]: 1 };
const LENGTH_BYTES = 4;
const SMALLEST_PIECE = 1_024;

/** Memory of the last chunk, reused for the next: the more is allocated outside of V8, the sooner V8 collects its own heap. */
let memory = Buffer.alloc(0);

/**
 * Packs bodies into one frame of Zstandard: their number, their lengths (32 bits each, little-endian), and then the bodies one
 * after another.
 */
export function packChunk(bodies: readonly Uint8Array[]): Buffer {
  let at = LENGTH_BYTES * (1 + bodies.length);
  const size = bodies.reduce((sum, { length }) => sum + length, at);
  if (memory.length < size) memory = Buffer.alloc(size);
  let lengthAt = memory.writeUInt32LE(bodies.length);
  for (const body of bodies) {
    lengthAt = memory.writeUInt32LE(body.length, lengthAt);
    memory.set(body, at);
    at += body.length;
  }
  return zstdCompressSync(memory.subarray(0, size), {
    params: FASTEST,
    chunkSize: Math.max(SMALLEST_PIECE, size >> 2),
  });
}

/** Returns the bodies of a chunk, by their places. */
export function unpackChunk(chunk: Buffer): Buffer[] {
  const bytes = zstdDecompressSync(chunk);
  const count = bytes.readUInt32LE(0);
  let at = LENGTH_BYTES * (1 + count);
  return Array.from({ length: count }, (_, place) => {
    const length = bytes.readUInt32LE(LENGTH_BYTES * (1 + place));
    return bytes.subarray(at, (at += length));
  });
}
