/** Time as an argument, so that a test can turn it. */
export type Clock = {
  /** Milliseconds that only ever grow. */
  now: () => number;
  /** Does something later, unless the timer is disposed of before. */
  after: (delayMs: number, run: () => void) => Timer;
  /** Resolves after so long, or as soon as the signal is given. */
  sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
};

/** `unref`: the end of the process need not wait for it. */
export type Timer = Disposable & { unref(): unknown };

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (delayMs, run) => setTimeout(run, delayMs),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};

/** How any clock sleeps. */
export function sleepOn({ after }: Pick<Clock, 'after'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = after(delayMs, end);
    signal?.addEventListener('abort', end);
  });
}
