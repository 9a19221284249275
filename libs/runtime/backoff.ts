/** Bounds of the pauses between tries, in milliseconds. */
export type Backoff = { firstMs: number; longestMs: number };

/** The pause after so many failures in a row, 1 for the first: twice as long each time. Exact, for a schedule that others rely on. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1));
}

/** The same with full jitter: processes that lost a server together come back evenly spread. */
export function jitteredBackoffMs(backoff: Backoff, failures: number): number {
  return Math.random() * backoffMs(backoff, failures);
}
