import { answerOf, type LogRows } from './log-rows.ts';

/** A column of one of the tables, and what a row has there: as Postgres reads it, or nothing. */
export type Column<R> = {
  name: string;
  type: string;
  of: (row: R) => string | number | null | undefined;
  /** An array cannot be in an array of different lengths: there it is text, and becomes this. */
  fromText?: string;
};

const column = <R>(name: string, type: string, of: Column<R>['of']): Column<R> => ({ name, type, of });

/** `of`: milliseconds since the epoch. Throws RangeError where that is no time. */
const time = <R>(name: string, of: (row: R) => number | undefined): Column<R> => ({
  name,
  type: 'timestamptz',
  of: (row) => {
    const ms = of(row);
    return ms === undefined ? undefined : new Date(ms).toISOString();
  },
});

const guids = <R>(name: string, of: (row: R) => readonly string[]): Column<R> => ({
  name,
  type: 'text',
  of: (row) => `{${of(row).join(',')}}`,
  fromText: 'uuid[]',
});

type Columns = { [T in keyof LogRows]: Column<LogRows[T][number]>[] };

const COLUMNS: Columns = {
  events: [
    time('at', ({ at }) => at),
    column('event', 'uuid', ({ event }) => event),
    column('interface', 'text', (row) => row.interface),
    column('action', 'text', ({ action }) => action),
    guids('receivers', ({ receivers }) => receivers),
    guids('subjects', ({ subjects }) => subjects),
    column('suppressed', 'jsonb', (row) => JSON.stringify(row.kind === 'routed' ? row.suppressed : [])),
    column('unknown_members', 'int', (row) => (row.kind === 'routed' ? row.unknownMembers : 0)),
    column('rejected_reason', 'text', (row) => (row.kind === 'rejected' ? row.reason : null)),
    column('rejected_detail', 'text', (row) => (row.kind === 'rejected' ? row.detail : null)),
    column('rejected_delivery', 'uuid', (row) => (row.kind === 'rejected' ? row.delivery : null)),
  ],
  subjects: [
    column('subject', 'uuid', ({ subject }) => subject),
    time('at', ({ at }) => at),
    column('event', 'uuid', ({ event }) => event),
  ],
  deliveries: [
    time('at', ({ at }) => at),
    column('delivery', 'uuid', ({ delivery }) => delivery),
    column('event', 'uuid', ({ event }) => event),
    column('interface', 'text', (row) => row.interface),
    column('action', 'text', ({ action }) => action),
    column('subscription', 'uuid', ({ subscription }) => subscription),
    column('account', 'uuid', ({ account }) => account),
    column('client', 'text', ({ client }) => client),
  ],
  attempts: [
    time('at', ({ at }) => at),
    column('delivery', 'uuid', ({ delivery }) => delivery),
    column('attempt', 'int', ({ attempt }) => attempt),
    column('kind', 'text', ({ kind }) => kind),
    column('event', 'uuid', ({ event }) => event),
    column('subscription', 'uuid', ({ subscription }) => subscription),
    column('generation', 'int', ({ generation }) => generation),
    column('parked', 'text', ({ parked }) => parked),
    column('by_hand', 'text', ({ byHand }) => byHand),
    column('status', 'smallint', (row) => answerOf(row).status),
    column('reason', 'text', (row) => answerOf(row).reason),
    time('retry_at', (row) => (row.kind === 'failed' ? row.retryAt : undefined)),
    column('duration_ms', 'int', (row) => answerOf(row).durationMs),
    column('url', 'text', (row) => answerOf(row).url),
    column('ip', 'text', (row) => answerOf(row).ip),
    column('dns_ms', 'int', (row) => answerOf(row).dnsMs),
    column('connect_ms', 'int', (row) => answerOf(row).connectMs),
    column('tls_ms', 'int', (row) => answerOf(row).tlsMs),
    column('first_byte_ms', 'int', (row) => answerOf(row).firstByteMs),
    column('answer', 'text', (row) => answerOf(row).body),
  ],
  bodies: [
    time('at', ({ at }) => at),
    column('delivery', 'uuid', ({ delivery }) => delivery),
    column('body', 'text', ({ body }) => body),
  ],
};

export const TABLES = Object.keys(COLUMNS) as (keyof LogRows)[];

/** Columns and rows of one table belong together, which the type of their union does not say. */
export function columnsOf(table: keyof LogRows): readonly Column<LogRows[keyof LogRows][number]>[] {
  return COLUMNS[table] as Column<LogRows[keyof LogRows][number]>[];
}
