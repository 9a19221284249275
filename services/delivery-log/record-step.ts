import { isRejection, reject, type Handler, type Message, type Rejection } from '@waybell/line/messages';
import { readBatch, unpackedBytes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { logQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';

export type RecordOptions = { write: WriteOutcomes };

/** `isRepeat`: it was taken before, and may be written already. */
export type Batch = { outcomes: Outcome[]; isRepeat: boolean };

/** The delivery log's place on the line. What it writes twice is there once, so it remembers nothing. */
export function recordStep({ write, config }: RecordOptions & { config: Pick<Config, 'heldLimit'> }): Step<Batch> {
  return {
    name: 'delivery-log',
    queues: [logQueue],
    heldLimit: { ...config.heldLimit, weigh: ({ body }) => unpackedBytes(body) },
    parse: readRecords,
    handle: recordOutcomes({ write }),
    traces: 'of a batch',
    describe: ({ outcomes }) => ({ outcomes: outcomes.length }),
  };
}

function readRecords(message: Message): Batch | Rejection {
  const outcomes = readBatch(message);
  return isRejection(outcomes) ? outcomes : { outcomes, isRepeat: message.deliveryCount > 0 };
}

/**
 * Writes a batch down; it is acknowledged when that is committed. Where Postgres refuses a record, all others of the
 * batch are written and the batch is rejected, with the reason: once that is fixed it can be published again as it is.
 */
export function recordOutcomes({ write }: RecordOptions): Handler<Batch> {
  return async ({ outcomes, isRepeat }) => {
    const refused = await write(outcomes, { isRepeat });
    const [first] = refused;
    if (first === undefined) return [];
    const detail = `${refused.length} of ${outcomes.length} records could not be written; the first: ${first.reason}`;
    return [reject('unwritable_record', detail)];
  };
}
