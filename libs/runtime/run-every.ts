import { systemClock, type Clock } from './clock.ts';
import { throttledWarning } from './throttled-warning.ts';
import type { Log } from './log.ts';
import { withTimeout } from './with-timeout.ts';

export type RunEveryOptions = {
  /** From the end of one time to the beginning of the next. */
  intervalMs: number;
  /** Unless so, the first time is after one interval. */
  beginsAtOnce?: boolean;
  /** Ends it as disposing of it does, which may come later: a process takes nothing from the signal on. */
  until?: AbortSignal;
  /** The log's word for a time that failed; at most once a minute. */
  complaint: string;
  log: Pick<Log, 'warn'>;
  clock?: Clock;
};

/** A run under way must not hold up the end of the process: a server that hangs may keep it for long. */
const STOP_LIMIT_MS = 2_000;

/**
 * Does the work again and again, after a time that failed, too, until disposed of: then it begins nothing new, and what
 * is under way, which hears of it by the signal, has two seconds to end.
 */
export function runEvery(
  work: (stop: AbortSignal) => Promise<void>,
  { intervalMs, beginsAtOnce = false, until, complaint, log, clock = systemClock }: RunEveryOptions,
): AsyncDisposable {
  const disposed = new AbortController();
  const stop = until === undefined ? disposed.signal : AbortSignal.any([disposed.signal, until]);
  const complain = throttledWarning(log, complaint, clock);
  const done = (async () => {
    for (let isDue = beginsAtOnce; !stop.aborted; isDue = true) {
      if (isDue) await work(stop).catch((error: unknown) => stop.aborted || complain(error));
      await clock.sleep(intervalMs, stop);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      disposed.abort();
      await withTimeout({ clock, limitMs: STOP_LIMIT_MS }, done);
    },
  };
}
