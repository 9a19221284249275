import { whyOf, type Answer, type Attempted } from '@waybell/line/outcomes';
import { answerOf, type LogRows } from './log-rows.ts';
import type { DeliveryRow } from './merging.ts';

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
function time<R>(name: string, of: (row: R) => number | undefined): Column<R> {
  // Rows beside each other mostly have the same one.
  let last: { ms?: number; text: string } = { text: '' };
  return {
    name,
    type: 'timestamptz',
    of: (row) => {
      const ms = of(row);
      if (ms === undefined) return undefined;
      if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
      return last.text;
    },
  };
}

const guids = <R>(name: string, of: (row: R) => readonly string[]): Column<R> => ({
  name,
  type: 'text',
  of: (row) => `{${of(row).join(',')}}`,
  fromText: 'uuid[]',
});

/** What a receiver answered, in the row of an attempt, and in that of a delivery which tells of its first one. */
const ANSWER: Column<Partial<Answer>>[] = [
  column('status', 'smallint', ({ status }) => status),
  column('duration_ms', 'int', ({ durationMs }) => durationMs),
  column('url', 'text', ({ url }) => url),
  column('ip', 'text', ({ ip }) => ip),
  column('dns_ms', 'int', ({ dnsMs }) => dnsMs),
  column('connect_ms', 'int', ({ connectMs }) => connectMs),
  column('tls_ms', 'int', ({ tlsMs }) => tlsMs),
  column('first_byte_ms', 'int', ({ firstByteMs }) => firstByteMs),
  column('answer', 'text', ({ body }) => body),
];

type Columns = { [T in keyof LogRows]: Column<LogRows[T][number]>[] };

const COLUMNS: Columns = {
  events: [
    time('at', ({ at }) => at),
    column('event', 'uuid', ({ event }) => event),
    column('interface', 'text', (row) => row.interface),
    column('action', 'text', ({ action }) => action),
    guids('receivers', ({ receivers }) => receivers),
    guids('subjects', ({ subjects }) => subjects),
    column('suppressed', 'jsonb', (row) =>
      row.kind === 'routed' && row.suppressed.length > 0 ? JSON.stringify(row.suppressed) : null,
    ),
    column('unknown_members', 'int', (row) => (row.kind === 'routed' ? row.unknownMembers || null : null)),
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
    time('attempted_at', ({ first }) => first?.at),
    ...ANSWER.map(({ of, ...answered }) => ({
      ...answered,
      of: ({ first }: DeliveryRow) => first && of(first.answer),
    })),
  ],
  attempts: [
    time('at', ({ at }) => at),
    column('delivery', 'uuid', ({ delivery }) => delivery),
    column('attempt', 'int', ({ attempt }) => attempt),
    column('kind', 'text', ({ kind }) => kind),
    column('subscription', 'uuid', ({ subscription }) => subscription),
    column('parked', 'text', ({ parked }) => parked),
    column('by_hand', 'text', ({ byHand }) => byHand),
    column('reason', 'text', whyOf),
    time('retry_at', (row) => (row.kind === 'failed' ? row.retryAt : undefined)),
    ...ANSWER.map(({ of, ...answered }) => ({ ...answered, of: (row: Attempted) => of(answerOf(row)) })),
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
