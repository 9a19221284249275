import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';

const INTERVAL_MS = 60_000;

/**
 * Returns a function that logs errors as warnings, at most once a minute: retries against a server that is away repeat the same
 * error.
 */
export function throttledWarning(
  log: Pick<Log, 'warn'>,
  message: string,
  { now }: Pick<Clock, 'now'> = systemClock,
): (error: unknown) => void {
  let warnedAt = -Infinity;
  return (error) => {
    if (now() - warnedAt < INTERVAL_MS) return;
    warnedAt = now();
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  };
}
