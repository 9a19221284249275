import { WRITTEN_TOGETHER } from '@waybell/delivery-log-service/record-step';
import { readOutcomes, writeOutcomes } from '@waybell/line/outcome-batch';
import { attemptAlone, batchesOf, wholeDelivery } from '../lib/log-records.ts';
import { logWriterIn, type LogWriter } from '../lib/log-writer.ts';
import { serve } from '../lib/part.ts';

/** Runs delivery-log's writer on batches of records, without a queue before it. */
export type LogWriterCommands = typeof commands;

const MIXES = { attempts: attemptAlone, deliveries: wholeDelivery };
export type LogMix = keyof typeof MIXES;

/** Batches in the form in which the queue delivers them. */
const made = new Map<LogMix, Buffer[]>();

let writer: LogWriter | undefined;

const commands = {
  /** Stays connected, so that what Postgres does for it is counted while it runs. */
  connect(url: string): Promise<unknown> {
    writer = logWriterIn(url);
    return writer.partitions.turnOver();
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
      while (next < batches.length) await writer?.write(batches.slice(next, (next += largest)).flatMap(readOutcomes));
    };
    await Promise.all(Array.from({ length: atOnce }, writeOn));
    return performance.now() - beganAt;
  },
};

serve(commands);
