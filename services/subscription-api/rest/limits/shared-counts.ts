import { throttledWarning, type Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import { MemoryStore, type Options, type Store } from 'express-rate-limit';
import { RedisStore, type RedisReply } from 'rate-limit-redis';

export type CountOptions = { redis: Redis; prefix: string; windowMs: number; log: Log };

/**
 * Counts by key within a window: in Redis, for all replicas together; while Redis is away in this process alone, from
 * zero, which the log says at most once a minute.
 */
export function sharedCounts({ redis, prefix, windowMs, log }: CountOptions) {
  // The stores read only this one of all options.
  const options = { windowMs } as Options;
  const local = new MemoryStore();
  local.init(options);
  let shared: RedisStore | undefined;
  const warn = throttledWarning(log, 'redis.away: limits are per process');

  async function connect(): Promise<RedisStore> {
    const sendCommand = (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply>;
    const store = new RedisStore({ prefix, sendCommand });
    await store.init(options);
    return store;
  }

  async function count<T>(work: (store: RedisStore | MemoryStore) => Promise<T>): Promise<T> {
    try {
      return await work((shared ??= await connect()));
    } catch (error) {
      // One that met an outage while it loaded its scripts would fail for ever.
      shared = undefined;
      warn(error);
      return work(local);
    }
  }

  return {
    get: (key) => count((store) => store.get(key)),
    increment: (key) => count((store) => store.increment(key)),
    decrement: (key) => count((store) => store.decrement(key)),
    resetKey: (key) => count((store) => store.resetKey(key)),
  } satisfies Store;
}
