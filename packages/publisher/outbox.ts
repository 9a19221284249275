/** The outbox in Postgres: its place, the statement that puts an event into it, and how much is in it. `relay.ts` publishes from it. */
import { writeEvent, type EventInput } from './write-event.ts';

/** A pool of connections to Postgres: one of `pg` is one. */
export interface OutboxPool {
  connect(): Promise<OutboxConnection>;
}

/** A connection of such a pool. */
export interface OutboxConnection extends OutboxQueries {
  on(event: 'notification', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'notification', listener: () => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** With an error, the pool closes it. */
  release(error?: Error): void;
}

/** Runs SQL, like a pool or a client of `pg`. */
export interface OutboxQueries {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** The place of the outbox. */
export interface OutboxPlace {
  /** The schema in which the migration ran. The first with an outbox in the search path unless given. */
  schema?: string | undefined;
}

/** The table of an outbox, as SQL names it. */
export function outboxTable({ schema }: OutboxPlace): string {
  return schema === undefined ? 'waybell_outbox' : `"${schema.replaceAll('"', '""')}".waybell_outbox`;
}

/** A statement that puts an event into the outbox, and the guid that the event has. */
export interface OutboxStatement {
  guid: string;
  text: string;
  values: [event: string];
}

/**
 * Fills in and checks the event; throws `InvalidEvent`. Run the statement in the transaction that makes the change. Its parameter
 * is written `$1`.
 */
export function outboxEvent(event: EventInput): OutboxStatement {
  const { guid, body } = writeEvent(event);
  return { guid, text: 'select waybell_publish($1)', values: [body.toString()] };
}

export interface OutboxFigures {
  /** Events that are not published yet. */
  waiting: number;
  /** Age of the oldest of them; 0 where there is none. */
  oldestMs: number;
  /** Events that the broker never takes: their rows say why. */
  failed: number;
}

const figuresOf = (table: string): string => `
select
  count(*) filter (where failed is null) as waiting,
  count(*) filter (where failed is not null) as failed,
  coalesce(extract(epoch from clock_timestamp() - min(created_at) filter (where failed is null)) * 1000, 0) as oldest
from ${table}`;

/** Reads how much is in the outbox, for metrics: every few seconds at most, as it reads the whole table. */
export async function readOutboxFigures(postgres: OutboxQueries, place: OutboxPlace = {}): Promise<OutboxFigures> {
  const { rows } = await postgres.query(figuresOf(outboxTable(place)));
  const { waiting, failed, oldest } = rows[0] ?? {};
  return { waiting: Number(waiting), failed: Number(failed), oldestMs: Number(oldest) };
}
