import { WRITTEN_TOGETHER } from '@waybell/delivery-log-service/record-step';
import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { partitionsIn } from '@waybell/delivery-log/write/partitions';
import { writeOutcomesTo } from '@waybell/delivery-log/write/write-outcomes';
import { readOutcomes, writeOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectPostgres } from '@waybell/runtime/postgres';
import { attemptAlone, batchesOf, wholeDelivery } from '../lib/log-records.ts';
import { serve } from '../lib/part.ts';

/** Runs delivery-log's writer on batches of records, without a queue before it. */
export type LogWriterCommands = typeof commands;

const MIXES = { attempts: attemptAlone, deliveries: wholeDelivery };
type LogMix = keyof typeof MIXES;

const KEPT = { days: 30, bodyDays: 7 };
const LIMIT_MS = 60_000;

/** Batches in the form in which the queue delivers them. */
const made = new Map<LogMix, Buffer[]>();

/** Throws where Postgres does not take a record. */
let write: ((outcomes: readonly Outcome[]) => Promise<void>) | undefined;

const commands = {
  /** Connects as the service does, and stays connected, so that what Postgres does for it is counted while it runs. */
  async connect(url: string): Promise<void> {
    const log = createLog({ service: 'bench', level: 'error' });
    const postgres = connectPostgres({ url, role: 'waybell_log', poolSize: 5, timeoutMs: LIMIT_MS, log });
    const partitions = partitionsIn(postgres, { ...KEPT, now: Date.now });
    const figures = new LogMetrics(createMetrics('bench'));
    const writeRecords = writeOutcomesTo(postgres, { partitions, figures, timeoutMs: LIMIT_MS });
    write = async (outcomes) => {
      const [refused] = await writeRecords(outcomes);
      if (refused !== undefined) throw new Error(`a record was refused: ${refused.reason}`);
    };
    await partitions.turnOver();
  },

  /** Makes records of so many hundred deliveries to be written, as often as wanted. */
  make({ mix, hundreds }: { mix: LogMix; hundreds: number }): void {
    made.set(mix, batchesOf(hundreds, MIXES[mix], Date.now()).map(writeOutcomes));
  },

  /** Writes them all; resolves with the milliseconds that took. */
  async write(mix: LogMix): Promise<number> {
    const batches = made.get(mix) ?? [];
    const { largest, atOnce } = WRITTEN_TOGETHER;
    const beganAt = performance.now();
    let next = 0;
    const writeOn = async () => {
      while (next < batches.length) await write?.(batches.slice(next, (next += largest)).flatMap(readOutcomes));
    };
    await Promise.all(Array.from({ length: atOnce }, writeOn));
    return performance.now() - beganAt;
  },
};

serve(commands);
