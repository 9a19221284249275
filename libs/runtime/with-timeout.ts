import type { Clock } from './clock.ts';

export type Limit = { clock: Clock; limitMs: number };

/** Waits until `work` has settled, but no longer than the limit. Never rejects. */
export async function withTimeout({ clock, limitMs }: Limit, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([work, clock.sleep(limitMs, ended.signal)]).catch(() => undefined);
  ended.abort();
}
