/** Limits of clients: requests and invalid tokens a minute, counted for all replicas; and connections of a server. */
import type { Server, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { ipKeyGenerator, rateLimit, MemoryStore, type Options, type Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { RedisStore, type RedisReply } from 'rate-limit-redis';
import { throttledWarning, type Log } from '@waybell/runtime/log';
import { isAllowedAddress, readNetworks } from '@waybell/runtime/networks';
import type { Redis } from '@waybell/runtime/redis';
import { hashToken } from '../../tokens.ts';
import { bearerTokenOf, type Authenticate } from '../authentication/authenticate.ts';
import { Problem } from './problem.ts';

/** Requests of one client of an account, and invalid tokens of one address, within a minute. */
export type Limits = { requestsPerMinute: number; failuresPerMinute: number };

export type LimitOptions = Limits & { redis: Redis; log: Log };

const WINDOW_MS = 60_000;
const PROVEN_TOKENS = 10_000;

/**
 * Answers 429 to a client that asks more than `requestsPerMinute`, by whichever of its tokens: how one is
 * spelled makes no difference. Each answer to a client says what is left (`RateLimit`, `RateLimit-Policy`). Answers 429
 * also where `failuresPerMinute` tokens of one address were not valid, without checking the next.
 *
 * A token that was valid lately is counted before anything is read, and is checked even if others at its address
 * guess. A token that is not valid leaves nothing in Redis but the count of its address.
 */
export function limiting(authenticate: Authenticate, options: LimitOptions): Authenticate {
  const requireFewRequests = requestLimit(options);
  const failures = limitFailures(options);
  /** The client of each token that was valid. */
  const proven = new LRUCache<string, string>({ max: PROVEN_TOKENS });

  return async (request) => {
    const token = hashToken(bearerTokenOf(request) ?? '').toString('base64url');
    const known = proven.get(token);
    if (known === undefined) await failures.requireFew(request);
    else await requireFewRequests(request, known);
    try {
      const caller = await authenticate(request);
      const client = `${caller.accountGuid}:${caller.clientId}`;
      proven.set(token, client);
      if (known === undefined) await requireFewRequests(request, client);
      return caller;
    } catch (error) {
      if (error instanceof Problem && error.kind === 'invalid-token') {
        proven.delete(token);
        await failures.note(request);
      }
      throw error;
    }
  };
}

function requestLimit({ requestsPerMinute, redis, log }: LimitOptions) {
  const limit = rateLimit({
    windowMs: WINDOW_MS,
    limit: requestsPerMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    store: sharedCounts({ redis, prefix: 'waybell:limit:client:', windowMs: WINDOW_MS, log }),
    keyGenerator: (_request, response) => response.locals['client'],
    handler() {
      throw new Problem('too-many-requests', `A client has ${requestsPerMinute} requests a minute.`);
    },
    // Its checks are for limits by address.
    validate: false,
  });

  /** Counts one of this client. Throws a Problem (429) where that is one too many. */
  return (request: Request, client: string) =>
    new Promise<void>((resolve, reject) => {
      const { res: response } = request;
      // Express sets it with the request.
      if (response === undefined) throw new Error('a request without its response');
      response.locals['client'] = client;
      void limit(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
}

/** Counts a request with an invalid token against its address; one count for all callers of this function. */
export function limitFailures({ failuresPerMinute, redis, log }: Omit<LimitOptions, 'requestsPerMinute'>) {
  const addressOf = (request: Request) => ipKeyGenerator(request.ip ?? '');
  const counts = sharedCounts({ redis, prefix: 'waybell:limit:failures:', windowMs: WINDOW_MS, log });
  return {
    /** Throws a Problem (429) where too many tokens of this address were not valid. */
    async requireFew(request: Request): Promise<void> {
      const found = await counts.get(addressOf(request));
      // The figure is NaN where Redis has counted nothing yet.
      if (found === undefined || !(found.totalHits >= failuresPerMinute)) return;
      const waitS = Math.max(1, Math.ceil(((found.resetTime?.getTime() ?? 0) - Date.now()) / 1_000));
      const detail = 'Too many access tokens from this address were not valid.';
      throw new Problem('too-many-requests', detail, { headers: { 'retry-after': String(waitS) } });
    },
    note: (request: Request) => counts.increment(addressOf(request)),
  };
}

type CountOptions = { redis: Redis; prefix: string; windowMs: number; log: Log };

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
      // A store that loaded its scripts during an outage would fail for ever.
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

/** Limits of the connections to a server. */
export type ConnectionBounds = {
  connectionLimit: number;
  /** Counted for each address (IPv6: its /56); a proxy's own is not bounded. */
  connectionsPerAddress: number;
  /** Networks of proxies in front. */
  trustedProxies: readonly string[];
  /** From the first byte of an answer to its end: who reads more slowly has its connection cut. */
  answerTimeoutMs: number;
  /** A slow answer ends at most this much late. */
  checkEveryMs: number;
};

const REQUESTS_PER_CONNECTION = 1_000;

/** Calls `refused` for each connection that is closed at once. */
export function boundConnections(server: Server, bounds: ConnectionBounds, refused: () => void): void {
  server.maxConnections = bounds.connectionLimit;
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  server.on('drop', refused);
  boundAddresses(server, bounds, refused);
  boundAnswers(server, bounds);
}

function boundAddresses(
  server: Server,
  { connectionsPerAddress, trustedProxies }: ConnectionBounds,
  refused: () => void,
): void {
  const proxies = readNetworks(trustedProxies);
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    if (isAllowedAddress(remoteAddress, proxies)) return;
    const address = ipKeyGenerator(remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    if (count > connectionsPerAddress) {
      refused();
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

const endless = new WeakSet<ServerResponse>();

/** Cuts an answer that never ends only if its reader reads none of its buffered bytes for that long. */
export function boundByReading(answer: ServerResponse): void {
  endless.add(answer);
}

function boundAnswers(server: Server, { answerTimeoutMs, checkEveryMs }: ConnectionBounds): void {
  /** Until when each is to be out; unknown before it begins. */
  const open = new Map<ServerResponse, number | undefined>();
  server.on('request', (_request, answer) => {
    open.set(answer, undefined);
    answer.once('close', () => open.delete(answer));
  });
  const checking = setInterval(() => {
    const now = performance.now();
    for (const [answer, dueAt] of open) {
      const isRead = endless.has(answer) && answer.writableLength === 0;
      if (answer.headersSent && (dueAt === undefined || isRead)) open.set(answer, now + answerTimeoutMs);
      // An answer behind others of its connection has no socket yet.
      else if (dueAt !== undefined && dueAt < now) answer.req.socket.destroy();
    }
  }, checkEveryMs);
  server.once('close', () => clearInterval(checking));
}
