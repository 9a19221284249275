import type { TurnedClock } from '../turned-clock.ts';
import { until } from './until.ts';

/**
 * Resolves with the result of the work, turning the clock by at most `limitMs`. Real parts of the work, such as a socket or
 * another process, may take any time.
 */
export async function endedWithin<T>(limit: { clock: TurnedClock; limitMs: number }, work: PromiseLike<T>): Promise<T> {
  const { clock, limitMs } = limit;
  let isOver = false;
  const end = () => void (isOver = true);
  work.then(end, end);
  const stepMs = limitMs / 20;
  const endsAt = clock.now() + limitMs;
  await until(`it has ended within ${limitMs} turned ms`, async () => {
    if (!isOver && clock.now() < endsAt) await clock.runFor(Math.min(stepMs, endsAt - clock.now()));
    return isOver;
  });
  return work;
}
