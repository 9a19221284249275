import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { partitionsIn, type Partitions } from '@waybell/delivery-log/write/partitions';
import { writeOutcomesTo } from '@waybell/delivery-log/write/write-outcomes';
import type { Outcome } from '@waybell/line/outcomes';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';

const KEPT = { days: 30, bodyDays: 7 };
const LIMIT_MS = 60_000;

const log = createLog({ service: 'bench', level: 'error' });

/** Connects as a service does. */
export function connectAs(url: string, role: string): Postgres {
  return connectPostgres({ url, role, poolSize: 5, timeoutMs: LIMIT_MS, log });
}

/** The writer of delivery-log, without a queue before it. */
export type LogWriter = AsyncDisposable & {
  partitions: Partitions;
  /** Throws where Postgres does not take a record. */
  write(outcomes: readonly Outcome[]): Promise<void>;
};

export function logWriterIn(url: string, now: () => number = Date.now): LogWriter {
  const postgres = connectAs(url, 'waybell_log');
  const partitions = partitionsIn(postgres, { ...KEPT, now });
  const figures = new LogMetrics(createMetrics('bench'));
  const write = writeOutcomesTo(postgres, { partitions, figures, timeoutMs: LIMIT_MS });
  return {
    partitions,
    async write(outcomes) {
      const [refused] = await write(outcomes);
      if (refused !== undefined) throw new Error(`a record was refused: ${refused.reason}`);
    },
    [Symbol.asyncDispose]: () => postgres.end(),
  };
}
