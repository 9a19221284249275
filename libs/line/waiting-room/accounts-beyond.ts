import type { HeldSum, WaitingLimits, WaitingSum } from './waiting-store.ts';

/** Sums drift a little, and to find a few rows takes as long as to find many. */
export const WELL_BEYOND = 1.01;

export type AccountBeyond = HeldSum & { mayHave: WaitingSum };

/**
 * Finds accounts that have more than they may: of their own limit, and the largest by bytes of the limit for all together. `sums`: the
 * largest, and at least those beyond their own.
 */
export function accountsBeyond(all: WaitingSum, sums: readonly HeldSum[], limits: WaitingLimits): AccountBeyond[] {
  const largest = sums.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  const tooMany = all.bytes > WELL_BEYOND * limits.allBytes ? all.bytes - limits.allBytes : 0;
  const largestMayHave = {
    ...limits.ofAccount,
    bytes: Math.min(limits.ofAccount.bytes, Math.max(0, largest - tooMany)),
  };
  return sums.flatMap((sum) => {
    const mayHave = sum.bytes === largest ? largestMayHave : limits.ofAccount;
    const isBeyond = sum.rows > WELL_BEYOND * mayHave.rows || sum.bytes > WELL_BEYOND * mayHave.bytes;
    return isBeyond ? [{ ...sum, mayHave }] : [];
  });
}
