import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import type { Outgoing } from './messages.ts';

/** How a message is recognised that was handled before, where handling it twice costs a duplicate. */
export type OncePolicy<M> = {
  keyOf: (message: M) => { key: string; fingerprint: string };
  ttlMs: number;
  /** What a message causes whose key is remembered, with the same or with another fingerprint. */
  onRepeat: (message: M, isSame: boolean) => Outgoing[];
  isWorthRemembering: (caused: Outgoing[]) => boolean;
};

/**
 * What was already done, remembered where losing it costs a duplicate and nothing more. While the memory is away it
 * remembers nothing and says so in the log, at most once a minute.
 */
export type Once = {
  /** The fingerprint remembered under `key`, or undefined. */
  recall(key: string): Promise<string | undefined>;
  remember(key: string, fingerprint: string, ttlMs: number): Promise<void>;
};

const PREFIX = 'waybell:once:';
const COMPLAINT_INTERVAL_MS = 60_000;

export function onceInRedis(redis: Redis, log: Log): Once {
  let complainedAt = 0;
  const withoutRedis = (error: unknown) => {
    if (Date.now() - complainedAt < COMPLAINT_INTERVAL_MS) return;
    complainedAt = Date.now();
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, 'redis.away: duplicates are possible');
  };
  return {
    async recall(key) {
      try {
        return (await redis.get(PREFIX + key)) ?? undefined;
      } catch (error) {
        withoutRedis(error);
        return undefined;
      }
    },
    async remember(key, fingerprint, ttlMs) {
      try {
        await redis.set(PREFIX + key, fingerprint, 'PX', ttlMs);
      } catch (error) {
        withoutRedis(error);
      }
    },
  };
}
