import type { LRUCache } from 'lru-cache';
import type { Clock } from '@waybell/runtime/clock';
import { forgettingCache } from '@waybell/runtime/forgetting-cache';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { type Metrics, CounterOnDemand } from '@waybell/runtime/metrics';
import type { AttemptResult } from '../request/attempt.ts';
import type { CallEndpoint } from '../request/call-endpoint.ts';
import { type FetchedToken, type TokenNeed, tokenNeedOf } from './fetch-token.ts';
import type { SharedToken, SharedTokens } from './shared-tokens.ts';

/**
 * A token; or why there is none: as the result of an attempt, as the error for which there is no result, or as this process ends.
 */
export type GivenToken =
  | { kind: 'token'; token: string }
  | { kind: 'failed'; result: AttemptResult }
  | { kind: 'error'; error: Error }
  | { kind: 'closing' };

export type AccessTokensOptions = {
  /** Fetches one; may reject. */
  fetch: (need: TokenNeed) => Promise<FetchedToken>;
  shared: SharedTokens;
  clock: Clock;
};

/** Monotonic times. `refused`: a token that a receiver did not take; `renewedAt`: when one was last fetched for that. */
type KnownToken = {
  token?: string;
  lifeMs: number;
  endsAt: number;
  refused?: string;
  renewedAt: number;
  failed?: { result: AttemptResult; until: number };
  fetching?: Promise<GivenToken>;
};

const MOST = 100_000;
const UNUSED_MS = 600_000;
/** A use in the last part of a token's life has another fetched; in the very last it waits for that. */
const AHEAD = { part: 1 / 5, mostMs: 60_000 };
const LAST = { part: 1 / 10, mostMs: 5_000 };
/** A failed fetch is the answer for all uses during this time, so that a backlog does not fetch once for each. */
const FAILURE_MS = 1_000;
/** A receiver that answers 401 to any token costs no more fetches. */
const RENEWAL_PAUSE_MS = 10_000;
/** Interval of polling for a token that another deliverer is fetching. */
const POLL_MS = 100;
const MOST_POLLS = 20;

/** Access tokens of this process, by the guid of their credentials: one fetch at a time for each, whatever waits for it. */
export class AccessTokens implements Disposable {
  readonly #options: AccessTokensOptions;
  readonly #known: LRUCache<string, KnownToken>;
  readonly #waits = new Set<(given: GivenToken) => void>();
  readonly #closing = new AbortController();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#known = forgettingCache<KnownToken>({ max: MOST, unusedMs: UNUSED_MS, clock: options.clock });
  }

  /** Returns a token that is valid for a while; undefined if the caller has to wait for one. */
  atHand(need: TokenNeed): string | undefined {
    const known = this.#known.get(need.guid);
    if (known?.token === undefined || this.#isIn(LAST, known)) return undefined;
    if (this.#isIn(AHEAD, known) && !this.#hasJustFailed(known)) void this.#fetchFor(need, known);
    return known.token;
  }

  /** Waits for a token, for seconds at most. Never rejects. */
  async ask(need: TokenNeed): Promise<GivenToken> {
    const token = this.atHand(need);
    if (token !== undefined) return { kind: 'token', token };
    const known = this.#knownFor(need);
    if (known.failed !== undefined && this.#hasJustFailed(known))
      return { kind: 'failed', result: known.failed.result };
    return this.#fetchFor(need, known);
  }

  /** Waits for a new token after a receiver answered 401. Undefined if one was fetched for this reason just before. */
  async renew(need: TokenNeed, refused: string): Promise<GivenToken | undefined> {
    const known = this.#knownFor(need);
    if (known.token === refused) {
      if (this.#options.clock.now() - known.renewedAt < RENEWAL_PAUSE_MS) return undefined;
      known.refused = refused;
      delete known.token;
    }
    return this.ask(need);
  }

  /** Ends all waits: deliveries that need a token are left to another process, or a later one. */
  [Symbol.dispose](): void {
    this.#closing.abort();
    for (const end of this.#waits) end({ kind: 'closing' });
  }

  #knownFor({ guid }: TokenNeed): KnownToken {
    const known = this.#known.get(guid);
    if (known !== undefined) return known;
    const unknown: KnownToken = { lifeMs: 0, endsAt: -Infinity, renewedAt: -Infinity };
    this.#known.set(guid, unknown);
    return unknown;
  }

  #isIn({ part, mostMs }: typeof AHEAD, { lifeMs, endsAt }: KnownToken): boolean {
    return endsAt - this.#options.clock.now() <= Math.min(lifeMs * part, mostMs);
  }

  #hasJustFailed({ failed }: KnownToken): boolean {
    return failed !== undefined && this.#options.clock.now() < failed.until;
  }

  #fetchFor(need: TokenNeed, known: KnownToken): Promise<GivenToken> {
    known.fetching ??= new Promise<GivenToken>((resolve) => {
      const end = (given: GivenToken) => {
        this.#waits.delete(end);
        delete known.fetching;
        resolve(given);
      };
      this.#waits.add(end);
      if (this.#closing.signal.aborted) queueMicrotask(() => end({ kind: 'closing' }));
      else this.#obtain(need, known).then(end, (error: unknown) => end({ kind: 'error', error: asError(error) }));
    });
    return known.fetching;
  }

  /** Takes the token that another deliverer has fetched, or fetches one. */
  async #obtain(need: TokenNeed, known: KnownToken): Promise<GivenToken> {
    const { shared, clock, fetch } = this.#options;
    const { guid } = need;
    for (let polls = 0; polls < MOST_POLLS; polls += 1) {
      const { found, isOursToFetch } = await shared.readOrClaim(guid);
      const needsNoRecall = found !== undefined && found.token !== known.token && found.token !== known.refused;
      if (needsNoRecall && found.leftMs > Math.min(found.lifeMs * LAST.part, LAST.mostMs)) {
        if (isOursToFetch) void shared.share(guid, undefined);
        return this.#keep(known, found);
      }
      if (isOursToFetch) break;
      await clock.sleep(POLL_MS, this.#closing.signal);
      if (this.#closing.signal.aborted) return { kind: 'closing' };
    }
    const askedAt = clock.now();
    // A token of another deliverer may have been refused long before.
    if (known.token === undefined && known.refused !== undefined) known.renewedAt = askedAt;
    let given: SharedToken | undefined;
    try {
      const fetched = await fetch(need);
      if (fetched.kind !== 'issued') return this.#fail(known, fetched.failure);
      given = { ...fetched, leftMs: fetched.lifeMs - (clock.now() - askedAt) };
      return this.#keep(known, given);
    } finally {
      // Waiters here do not wait for Redis.
      void shared.share(guid, given);
    }
  }

  #keep(known: KnownToken, { token, lifeMs, leftMs }: SharedToken): GivenToken {
    Object.assign(known, { token, lifeMs, endsAt: this.#options.clock.now() + leftMs });
    delete known.failed;
    return { kind: 'token', token };
  }

  #fail(known: KnownToken, result: AttemptResult): GivenToken {
    known.failed = { result: { ...result, durationMs: 0 }, until: this.#options.clock.now() + FAILURE_MS };
    return { kind: 'failed', result };
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

type Fetch = AccessTokensOptions['fetch'];
type FetchResult = FetchedToken['kind'] | 'failed';
type FetchWatch = { metrics: Metrics; log: Log; clock: Pick<Clock, 'now'> };

/** Returns what counts a fetch by its result. */
export function countFetches(metrics: Metrics): (result: FetchResult) => void {
  const fetches = new CounterOnDemand(metrics, {
    name: 'waybell_token_fetches_total',
    help: 'Access tokens asked for: issued, refused, unusable (none in the answer), unanswered, failed (no way out)',
    labelNames: ['result'],
  });
  return (result) => fetches.inc({ result });
}

/** Counts fetches. Logs, at most once a minute, the host of a token URL that gave no token. */
export function watchFetches(fetch: Fetch, { metrics, log, clock }: FetchWatch): Fetch {
  const count = countFetches(metrics);
  const warn = throttledWarning(log, 'token.missing: deliveries that need it fail', clock);
  return async (need) => {
    const fetched = await fetch(need).catch((error: unknown) => {
      count('failed');
      throw error;
    });
    count(fetched.kind);
    if (fetched.kind !== 'issued') warn(new Error(`${URL.parse(need.oauth2.tokenUrl)?.host}: ${fetched.kind}`));
    return fetched;
  };
}

const UNAUTHORIZED = 401;

/**
 * Makes the request once more, with another token, if the receiver answers 401; the result of the second counts. Without another token,
 * the attempt fails for that.
 */
export function renewingRefused(callEndpoint: CallEndpoint, tokens: Pick<AccessTokens, 'renew'>): CallEndpoint {
  return (request, onEnd) => {
    const { accessToken, credentials } = request;
    const need = accessToken === undefined ? undefined : tokenNeedOf(request);
    if (accessToken === undefined || need === undefined || credentials === undefined)
      return callEndpoint(request, onEnd);
    callEndpoint(request, (ended) => {
      if (ended instanceof Error || ended.status !== UNAUTHORIZED) return onEnd(ended);
      void tokens.renew(need, accessToken).then((renewed) => {
        if (renewed === undefined || renewed.kind === 'closing') return onEnd(ended);
        if (renewed.kind === 'failed') return onEnd(renewed.result);
        if (renewed.kind === 'error') return onEnd(renewed.error);
        try {
          // Its answer may still name the token that it refused.
          const knowing = { ...credentials, secrets: [...credentials.secrets, accessToken] };
          callEndpoint({ ...request, credentials: knowing, accessToken: renewed.token }, onEnd);
        } catch (error) {
          onEnd(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  };
}
