import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { hashToken } from '../tokens.ts';
import { bearerTokenOf, type Authenticate } from './authenticate.ts';
import { Problem } from './problem.ts';
import { sharedCounts } from './shared-counts.ts';

/** How much one token, and one address that guesses tokens, may ask within a minute. */
export type Limits = { requestsPerMinute: number; failuresPerMinute: number };

export type LimitOptions = Limits & { redis: Redis; log: Log };

const WINDOW_MS = 60_000;
const PROVEN_TOKENS = 10_000;

/**
 * Answers 429 to a token that asks more than `requestsPerMinute` (decisions R5), before anything else is done for it.
 * Every answer to a token says what is left (`RateLimit`, `RateLimit-Policy`).
 */
export function limitRequests({ requestsPerMinute, redis, log }: LimitOptions): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: requestsPerMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    store: sharedCounts({ redis, prefix: 'waybell:limit:token:', windowMs: WINDOW_MS, log }),
    skip: (request) => bearerTokenOf(request) === undefined,
    keyGenerator: tokenKey,
    handler() {
      throw new Problem('too-many-requests', `A token has ${requestsPerMinute} requests a minute.`);
    },
    // They look for the faults of those who count addresses.
    validate: false,
  });
}

/**
 * Answers 429 where `failuresPerMinute` tokens of one address were not valid, without looking at the next. A token
 * that was valid lately is looked at all the same: who shares an address with a guesser is not locked out by it.
 */
export function limitFailures(authenticate: Authenticate, options: LimitOptions): Authenticate {
  const { failuresPerMinute, redis, log } = options;
  const failures = sharedCounts({ redis, prefix: 'waybell:limit:failures:', windowMs: WINDOW_MS, log });
  const proven = new LRUCache<string, true>({ max: PROVEN_TOKENS });

  async function requireFewFailures(address: string): Promise<void> {
    const found = await failures.get(address);
    // Where Redis has counted nothing yet, the figure is NaN.
    if (found === undefined || !(found.totalHits >= failuresPerMinute)) return;
    const waitS = Math.max(1, Math.ceil(((found.resetTime?.getTime() ?? 0) - Date.now()) / 1_000));
    const detail = 'Too many access tokens from this address were not valid.';
    throw new Problem('too-many-requests', detail, { headers: { 'retry-after': String(waitS) } });
  }

  return async (request) => {
    const [token, address] = [tokenKey(request), ipKeyGenerator(request.ip ?? '')];
    if (!proven.has(token)) await requireFewFailures(address);
    try {
      const caller = await authenticate(request);
      proven.set(token, true);
      return caller;
    } catch (error) {
      proven.delete(token);
      if (error instanceof Problem && error.kind === 'invalid-token') await failures.increment(address);
      throw error;
    }
  };
}

/** What a token is counted by, whatever it is: Redis is not to know tokens either. */
function tokenKey(request: Request): string {
  return hashToken(bearerTokenOf(request) ?? '').toString('base64url');
}
