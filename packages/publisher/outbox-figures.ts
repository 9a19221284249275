import type { OutboxQueries } from './outbox-connection.ts';
import { outboxTable, type OutboxPlace } from './outbox-table.ts';

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

/** Looks how much is in the outbox, for metrics: ask every few seconds, it reads the whole table. */
export async function readOutboxFigures(postgres: OutboxQueries, place: OutboxPlace = {}): Promise<OutboxFigures> {
  const { rows } = await postgres.query(figuresOf(outboxTable(place)));
  const { waiting, failed, oldest } = rows[0] ?? {};
  return { waiting: Number(waiting), failed: Number(failed), oldestMs: Number(oldest) };
}
