import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';

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
