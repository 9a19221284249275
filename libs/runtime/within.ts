import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `work` has ended, well or not, and for no longer than `limitMs`. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, sleep(limitMs, undefined, { signal: ended.signal })]).catch(() => undefined);
  ended.abort();
}
