import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import type { Request } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { hashToken } from '../../tokens.ts';
import { bearerTokenOf, type Authenticate } from '../authentication/authenticate.ts';
import { Problem } from '../http/problem.ts';
import { sharedCounts } from './shared-counts.ts';

/** How much one client of an account, and one address that guesses tokens, may ask within a minute. */
export type Limits = { requestsPerMinute: number; failuresPerMinute: number };

export type LimitOptions = Limits & { redis: Redis; log: Log };

const WINDOW_MS = 60_000;
const PROVEN_TOKENS = 10_000;

/**
 * Answers 429 to a client that asks more than `requestsPerMinute`, by whichever of its tokens: how one is
 * spelled makes no difference. Each answer to a client says what is left (`RateLimit`, `RateLimit-Policy`). Answers 429
 * also where `failuresPerMinute` tokens of one address were not valid, without looking at the next.
 *
 * A token that was valid lately is counted before anything is looked up, and is looked at even if others at its address
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
    // They look for the faults of those who count addresses.
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
