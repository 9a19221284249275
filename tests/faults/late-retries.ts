import type { Received } from '../testing/receiver.ts';

/** A retry by when it was due and came, both as `performance.now()`. */
export type Retry = { dueAt: number; cameAt: number };

/**
 * Every retry among these requests, in the order in which they came: due so long after the last request with the
 * attempt before it.
 */
export function retriesAmong(
  received: readonly Pick<Received, 'path' | 'headers' | 'at'>[],
  delaysMsAt: (path: string) => readonly number[],
): Retry[] {
  const lastAt = new Map<string, number>();
  return received.flatMap(({ path, headers, at }) => {
    const delivery = String(headers['webhook-id']);
    const attempt = Number(headers['x-webhook-attempt']);
    lastAt.set(`${delivery} ${attempt}`, at);
    const before = lastAt.get(`${delivery} ${attempt - 1}`);
    const delayMs = delaysMsAt(path)[attempt - 2];
    return before === undefined || delayMs === undefined ? [] : [{ dueAt: before + delayMs, cameAt: at }];
  });
}

type Span = { since: number; until?: number; toleratedMs: number };

/** How long after `since` the last retry was due that came more than `toleratedMs` late; 0 where none did. */
export function unsettledMs(retries: readonly Retry[], { since, until = Infinity, toleratedMs }: Span): number {
  const late = retries.filter(({ dueAt, cameAt }) => dueAt >= since && dueAt < until && cameAt - dueAt > toleratedMs);
  return Math.max(0, ...late.map(({ dueAt }) => dueAt - since));
}
