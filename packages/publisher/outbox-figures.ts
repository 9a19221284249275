import type { OutboxQueries } from './outbox-connection.ts';

export interface OutboxFigures {
  /** Events that are not published yet. */
  waiting: number;
  /** Age of the oldest of them; 0 where there is none. */
  oldestMs: number;
  /** Events that the broker never takes: their rows say why. */
  failed: number;
}

const FIGURES = `
select
  count(*) filter (where failed is null) as waiting,
  count(*) filter (where failed is not null) as failed,
  coalesce(extract(epoch from clock_timestamp() - min(created_at) filter (where failed is null)) * 1000, 0) as oldest
from waybell_outbox`;

/** Looks how much is in the outbox, for metrics: ask every few seconds, it reads the whole table. */
export async function readOutboxFigures(postgres: OutboxQueries): Promise<OutboxFigures> {
  const { rows } = await postgres.query(FIGURES);
  const { waiting, failed, oldest } = rows[0] ?? {};
  return { waiting: Number(waiting), failed: Number(failed), oldestMs: Number(oldest) };
}
