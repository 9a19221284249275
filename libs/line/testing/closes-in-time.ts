/** The least that any part of the line, while it closes, waits for the broker's answer. */
const LEAST_LIMIT_MS = 2_000;

/**
 * Closes it. False where that took so long that it may have given up on a broker that stood still: nothing is promised
 * then of what the broker had not read or not said yet.
 */
export async function closesInTime(open: AsyncDisposable): Promise<boolean> {
  const beganAt = performance.now();
  await open[Symbol.asyncDispose]();
  return performance.now() - beganAt < LEAST_LIMIT_MS;
}
