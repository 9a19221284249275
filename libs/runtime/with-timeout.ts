import type { Clock } from './clock.ts';

export type Limit = { clock: Clock; limitMs: number };

/** Waits until `work` has ended, well or not, and for no longer than the limit. */
export async function withTimeout({ clock, limitMs }: Limit, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, clock.sleep(limitMs, ended.signal)]).catch(() => undefined);
  ended.abort();
}
