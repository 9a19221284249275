import { Redis as Client, type RedisOptions as ClientOptions } from 'ioredis';
import { placeOf } from './addresses.ts';
import { systemClock } from './clock.ts';
import type { Log } from './log.ts';
import { Login } from './login.ts';
import { masterOf, namesSentinels, type ServerAddress } from './server-address.ts';
import { messageOf } from './server-trouble.ts';

export type Redis = Client & AsyncDisposable;

export type RedisOptions = ServerAddress & { timeoutMs: number; log: Log; login?: Login };

/** How often a file is read again while a refused login is not repeated. */
const READ_AGAIN_MS = 1_000;

/**
 * Connects a client that fails fast while Redis is away: it queues nothing, and each command has a limit. Leaves a server that
 * turns out to be a replica at once. If the address names sentinels, asks them for the master at each connect. Reads what
 * it connects with again after a failure, all but the sentinels' addresses.
 */
export function connectRedis({ timeoutMs, log, login: given, ...server }: RedisOptions): Redis {
  const login = given ?? new Login('Redis', server);
  let tried = login.address();
  let isClosed = false;
  // Full jitter: clients that lost the server together reconnect evenly spread. Null ends the client until the login is due.
  const retryStrategy = (attempt: number) => {
    useNewAddress();
    return login.isDue() ? Math.ceil(Math.random() * Math.min(100 * attempt, 2_000)) : null;
  };
  const redis = new Client({
    ...optionsOf(tried),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: timeoutMs,
    // A server that hangs counts as away: the next commands fail at once, not each after its own limit.
    socketTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    sentinelCommandTimeout: timeoutMs,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
    reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  });

  function useNewAddress(): void {
    if (tried === login.address()) return;
    tried = login.address();
    Object.assign(redis.options, optionsOf(tried));
  }

  function connectWhenDue(): void {
    if (isClosed || redis.status !== 'end') return;
    useNewAddress();
    if (login.isDue()) redis.connect().catch(() => undefined);
    else systemClock.after(READ_AGAIN_MS, connectWhenDue).unref();
  }

  // The answers of sentinels, such as that they know no master of that name, appear only in this event.
  let answered = '';
  redis.on('sentinelError', ({ message }: Error) => (answered = `; ${message}`));
  redis.on('error', (error: Error) => {
    error.message += answered;
    answered = '';
    log.warn({ server: placeOf(tried.url), reason: messageOf(login.failed(tried, error)) }, 'redis.connection-lost');
  });
  redis.on('ready', () => login.succeeded(tried));
  redis.on('end', connectWhenDue);
  return Object.assign(redis, {
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      redis.disconnect();
    },
  });
}

/** Absent ones are undefined, so that they replace those of an earlier address. */
function optionsOf(server: ServerAddress): Omit<ClientOptions, 'replyMapping'> {
  const { url, tls } = server;
  if (namesSentinels(url)) return { username: undefined, password: undefined, ...masterOf(server) };
  // The client reads the address.
  const { host, port, username, password, db, tls: ofUrl } = new Client(url, { lazyConnect: true }).options;
  return { host, port, username, password, db, tls: tls ?? ofUrl } as Omit<ClientOptions, 'replyMapping'>;
}
