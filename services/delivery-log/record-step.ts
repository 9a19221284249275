import { reject, type Handler } from '@waybell/line/messages';
import { readBatch, unpackedBytes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { logQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';

export type RecordOptions = { write: WriteOutcomes };

/** The delivery log's step. Needs no `once`: writing a record twice stores it once. */
export function recordStep({ write, config }: RecordOptions & { config: Pick<Config, 'heldLimit'> }): Step<Outcome[]> {
  return {
    name: 'delivery-log',
    queues: [logQueue],
    heldLimit: { ...config.heldLimit, weigh: ({ body }) => unpackedBytes(body) },
    parse: readBatch,
    handle: recordOutcomes({ write }),
    traces: 'of a batch',
    describe: (outcomes) => ({ outcomes: outcomes.length }),
  };
}

/**
 * Writes a batch; the batch is acknowledged after the commit. If Postgres refuses a record, writes the others and rejects the
 * batch with the reason: once that is fixed, the batch can be published again unchanged.
 */
export function recordOutcomes({ write }: RecordOptions): Handler<Outcome[]> {
  return async (outcomes) => {
    const refused = await write(outcomes);
    const [first] = refused;
    if (first === undefined) return [];
    const detail = `${refused.length} of ${outcomes.length} records could not be written; the first: ${first.reason}`;
    return [reject('unwritable_record', detail)];
  };
}
