/**
 * Resolves with the promise's value, or with `late` if that takes longer: the work goes on, but its result is no longer awaited.
 */
export async function inTime<T>(promise: Promise<T>, withinMs: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, withinMs, 'late').unref();
  });
  try {
    return await Promise.race([promise, isLate]);
  } finally {
    clearTimeout(timer);
  }
}
