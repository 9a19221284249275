import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';

const INTERVAL_MS = 60_000;

/** Logs an error as a warning, at most once a minute: what is away is asked again and again, and says the same each time. */
export function throttledWarning(
  log: Pick<Log, 'warn'>,
  message: string,
  { now }: Pick<Clock, 'now'> = systemClock,
): (error: unknown) => void {
  let complainedAt = -Infinity;
  return (error) => {
    if (now() - complainedAt < INTERVAL_MS) return;
    complainedAt = now();
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  };
}
