import { Redis as Client } from 'ioredis';
import type { Log } from './log.ts';
import { masterOf, namesSentinels } from './redis-sentinels.ts';
import { troubleWith } from './server-trouble.ts';
import { placeOf } from './place-of.ts';
import type { ServerAddress } from './server-address.ts';

export type Redis = Client & AsyncDisposable;

export type RedisOptions = ServerAddress & { timeoutMs: number; log: Log };

/**
 * Connects a client that fails fast while Redis is away: it queues nothing, and each command has a limit. Leaves a server that
 * turns out to be a replica at once. If the address names sentinels, asks them for the master at each connect.
 */
export function connectRedis({ timeoutMs, log, ...server }: RedisOptions): Redis {
  const { url, tls } = server;
  // Full jitter: clients that lost the server together reconnect evenly spread.
  const retryStrategy = (attempt: number) => Math.ceil(Math.random() * Math.min(100 * attempt, 2_000));
  const options = {
    ...(tls && { tls }),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: timeoutMs,
    // A server that hangs counts as away: the next commands fail at once, not each after its own limit.
    socketTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    sentinelCommandTimeout: timeoutMs,
    enableAutoPipelining: true,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
    reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  };
  const redis = namesSentinels(url) ? new Client({ ...options, ...masterOf(server) }) : new Client(url, options);
  // The answers of sentinels, such as that they know no master of that name, appear only in this event.
  let answered = '';
  redis.on('sentinelError', ({ message }: Error) => (answered = `; ${message}`));
  redis.on('error', (error) => {
    const reason = `${troubleWith({ server: 'Redis', url }, error)}${answered}`;
    answered = '';
    log.warn({ server: placeOf(url), reason }, 'redis.connection-lost');
  });
  return Object.assign(redis, {
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  });
}
