import type { HeldSum, WaitingLimits, WaitingSum } from './waiting-store.ts';

/** Sums drift a little, and to find a few rows takes as long as to find many. */
export const WELL_BEYOND = 1.01;

export type AccountBeyond = HeldSum & { mayHave: WaitingSum };

/**
 * Finds accounts that have more than they may: of their own limit, and the largest by bytes of the limit for all together. `sums`: the
 * largest, and at least those beyond their own.
 */
export function accountsBeyond(all: WaitingSum, sums: readonly HeldSum[], limits: WaitingLimits): AccountBeyond[] {
  const tooMany = all.bytes > WELL_BEYOND * limits.allBytes ? all.bytes - limits.allBytes : 0;
  const [largest] = sums.toSorted((one, other) => other.bytes - one.bytes);
  return sums.flatMap((sum) => {
    const left = tooMany > 0 && sum === largest ? Math.max(0, sum.bytes - tooMany) : Infinity;
    const mayHave = { rows: limits.ofAccount.rows, bytes: Math.min(limits.ofAccount.bytes, left) };
    const isBeyond = sum.rows > WELL_BEYOND * mayHave.rows || sum.bytes > WELL_BEYOND * mayHave.bytes;
    return isBeyond ? [{ ...sum, mayHave }] : [];
  });
}
