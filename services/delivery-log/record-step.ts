import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';
import { allAtOnce, reject, type Handler } from '@waybell/line/messages';
import { readBatch, decompressedBytes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { logQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';

/**
 * How messages are gathered: Postgres' cost is per transaction, and nobody reads a delivery of a moment ago. One batch is
 * prepared while Postgres writes another.
 */
export const WRITTEN_TOGETHER = { largest: 100, atOnce: 2, afterMs: 400 };

export type RecordOptions = { write: WriteOutcomes };

/** The delivery log's step. Needs no `once`: writing a record twice stores it once. */
export function recordStep({
  write,
  config,
}: RecordOptions & { config: Pick<Config, 'inHandLimit'> }): Step<Outcome[]> {
  return {
    name: 'delivery-log',
    queues: [logQueue],
    inHandLimit: { ...config.inHandLimit, weigh: ({ body }) => decompressedBytes(body) },
    parse: readBatch,
    handle: recordOutcomes({ write }),
    gathering: WRITTEN_TOGETHER,
    traces: 'of a batch',
    describe: (outcomes) => ({ outcomes: outcomes.length }),
  };
}

/**
 * Writes the records of messages, which are acknowledged after the commit. If Postgres refuses a record, writes the others and
 * rejects its message with the reason: once that is fixed, the message can be published again unchanged.
 */
export function recordOutcomes({ write }: RecordOptions): Handler<Outcome[]> {
  return allAtOnce(async (batches) => {
    const reasons = new Map((await write(batches.flat())).map(({ outcome, reason }) => [outcome, reason]));
    if (reasons.size === 0) return [];
    return batches.map((outcomes) => {
      const refused = outcomes.flatMap((outcome) => reasons.get(outcome) ?? []);
      if (refused.length === 0) return [];
      const detail = `${refused.length} of ${outcomes.length} records could not be written; the first: ${refused[0]}`;
      return reject('unwritable_record', detail);
    });
  });
}
