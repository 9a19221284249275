import { systemClock, withTimeout, type Clock } from './clock.ts';
import { throttledWarning, type Log } from './log.ts';

export type RunEveryOptions = {
  /** From the end of a run to the beginning of the next. */
  intervalMs: number;
  /** If absent, the first run begins after one interval. */
  beginsAtOnce?: boolean;
  /** Stops it like disposal, which may come later: a process accepts nothing more from this signal on. */
  until?: AbortSignal;
  /** Log message of a failed run; at most once a minute. */
  warning: string;
  log: Pick<Log, 'warn'>;
  clock?: Clock;
};

/** Limit of a run under way at disposal: a server that hangs must not delay the end of the process. */
const STOP_LIMIT_MS = 2_000;

/**
 * Runs the work again and again, also after a failure, until disposed of: then it begins no new run, and the run under way, which
 * gets the signal, has two seconds to end.
 */
export function runEvery(
  work: (stop: AbortSignal) => Promise<void>,
  { intervalMs, beginsAtOnce = false, until, warning, log, clock = systemClock }: RunEveryOptions,
): AsyncDisposable {
  const disposed = new AbortController();
  const stop = until === undefined ? disposed.signal : AbortSignal.any([disposed.signal, until]);
  const warn = throttledWarning(log, warning, clock);
  const done = (async () => {
    for (let isDue = beginsAtOnce; !stop.aborted; isDue = true) {
      if (isDue) await work(stop).catch((error: unknown) => stop.aborted || warn(error));
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
