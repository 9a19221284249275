import { Redis as Client } from 'ioredis';
import type { Log } from './log.ts';
import { troubleWith } from './server-trouble.ts';
import { placeOf, type ServerAddress } from './server-address.ts';

export type Redis = Client & AsyncDisposable;

export type RedisOptions = ServerAddress & { timeoutMs: number; log: Log };

/** A client that fails fast while Redis is away: nothing is queued, each command has a limit. */
export function connectRedis({ url, tls, timeoutMs, log }: RedisOptions): Redis {
  const redis = new Client(url, {
    ...(tls && { tls }),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: timeoutMs,
    // A server that hangs is as good as away: the next commands fail at once, not each after its own limit.
    socketTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    enableAutoPipelining: true,
    // Any time up to the limit: clients that lost the server together come back evenly spread.
    retryStrategy: (attempt) => Math.ceil(Math.random() * Math.min(100 * attempt, 2_000)),
  });
  redis.on('error', (error) =>
    log.warn({ server: placeOf(url), reason: troubleWith({ server: 'Redis', url }, error) }, 'redis.connection-lost'),
  );
  return Object.assign(redis, {
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  });
}
