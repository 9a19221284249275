import { FLUSH_MS, LARGEST_BATCH } from '../hand-over/sendings.ts';

/** Messages a second that one process handled at most, in the benchmarks. */
const FULL_RATE = 4_000;
/** In hand besides those that wait for the next record: those of the record before, and those under way. */
const TIMES = 3;

/** The number of messages that a step must be able to hold, so that it never waits for its own records. */
export function heldAtFullRate(): number {
  return Math.max(TIMES * (FLUSH_MS / 1_000) * FULL_RATE, 2 * LARGEST_BATCH);
}
