/** What a promise resolves with, or `late` where that takes longer: nothing ends for that, but nobody waits any more. */
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
