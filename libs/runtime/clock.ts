/** Time as an argument, so that tests can control it. */
export type Clock = {
  /** Monotonic milliseconds. */
  now: () => number;
  /** Runs a function later, unless the timer is disposed of before. */
  after: (delayMs: number, run: () => void) => Timer;
  /** Resolves after the delay, or as soon as the signal is aborted. */
  sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
};

/** `unref`: the process may end before it. */
export type Timer = Disposable & { unref(): unknown };

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (delayMs, run) => setTimeout(run, delayMs),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};

/** Implements `sleep` by `after`. */
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

type Limit = { clock: Clock; limitMs: number };

/** Waits until `work` has settled, but no longer than the limit. Never rejects. */
export async function withTimeout({ clock, limitMs }: Limit, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, clock.sleep(limitMs, ended.signal)]).catch(() => undefined);
  ended.abort();
}
