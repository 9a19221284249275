import { LRUCache } from 'lru-cache';
import { isNoResult, type NoResult, noResult } from '@waybell/line/messages';
import type { Clock } from '@waybell/runtime/clock';
import { forgettingCache } from '@waybell/runtime/forgetting-cache';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { type Metrics, CounterOnDemand } from '@waybell/runtime/metrics';
import type { AttemptResult } from '../request/attempt.ts';
import type { CallEndpoint, CallTokenUrl, TokenUrlAnswer, TokenUrlRequest } from '../request/call-endpoint.ts';
import type { SharedToken, SharedTokens } from './shared-tokens.ts';
import type { ClientCredentials } from '@waybell/notifications/receiver-credentials';
import { isTimeout } from '../flow/endpoint.ts';
import { excerpt } from '../request/trace.ts';
import type { Credentials } from './credentials.ts';

/**
 * A token; or why there is none: as the result of an attempt, as why there is no result, or as this process ends.
 */
export type GivenToken =
  | { kind: 'token'; token: string }
  | { kind: 'failed'; result: AttemptResult }
  | { kind: 'none'; why: NoResult }
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
      else this.#obtain(need, known).then(end, (error: unknown) => end({ kind: 'none', why: noResult(error) }));
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
      if (isNoResult(ended) || ended.status !== UNAUTHORIZED) return onEnd(ended);
      void tokens.renew(need, accessToken).then((renewed) => {
        if (renewed === undefined || renewed.kind === 'closing') return onEnd(ended);
        if (renewed.kind === 'failed') return onEnd(renewed.result);
        if (renewed.kind === 'none') return onEnd(renewed.why);
        try {
          // Its answer may still name the token that it refused.
          const knowing = { ...credentials, secrets: [...credentials.secrets, accessToken] };
          callEndpoint({ ...request, credentials: knowing, accessToken: renewed.token }, onEnd);
        } catch (error) {
          onEnd(noResult(error));
        }
      });
    });
  };
}

/** Credentials by which tokens are asked for, and a callback URL that they are for. */
export type TokenNeed = Pick<Credentials, 'guid' | 'certificate'> & { oauth2: ClientCredentials; callbackUrl: string };

/** Returns the token that a request to the target needs; undefined if it needs none. */
export function tokenNeedOf(target: {
  callbackUrl: string;
  credentials?: Credentials | undefined;
}): TokenNeed | undefined {
  const { callbackUrl, credentials } = target;
  if (credentials?.oauth2 === undefined) return undefined;
  const { guid, oauth2, certificate } = credentials;
  return { guid, oauth2, callbackUrl, ...(certificate && { certificate }) };
}

/** A token and how long it lives from the start of its request on; or why there is none, as the result of an attempt. */
export type FetchedToken =
  | { kind: 'issued'; token: string; lifeMs: number }
  | { kind: 'refused' | 'unusable' | 'unanswered'; failure: AttemptResult };

/** Assumed life of a token that does not state its own, or not as a number of seconds. */
const ASSUMED_LIFE_MS = 300_000;
const LONGEST_LIFE_MS = 86_400_000;
/** Others would break the header that it goes into. */
const SENDABLE = /^[\x21-\x7e]+$/;
/** Some servers leave the type out, or write the name of the scheme as they know it. */
const BEARER = /^(bearer([ _-]?token)?)?$/i;
const MOST_KNOWN = 10_000;

/** The form of a client's id and secret. `encoded`: as RFC 6749, 2.3.1, has it; `as written`: as of servers that decode nothing. */
type SecretForm = 'body' | 'encoded' | 'as written';

/**
 * Returns what asks for access tokens by client credentials (RFC 6749, 4.4), for requests with Bearer (RFC 6750). Needs of any 2xx an
 * `access_token` that a header can have, whatever else is there. Where the server does not know the client by Basic, asks once more with
 * the pair in the other form, and remembers which it takes. Rejects with `Unavailable` if there is no way out.
 */
export function fetchingTokens(callTokenUrl: CallTokenUrl): (need: TokenNeed) => Promise<FetchedToken> {
  const accepted = new LRUCache<string, SecretForm>({ max: MOST_KNOWN });

  return async (need) => {
    const forms = formsOf(need.oauth2, accepted.get(need.guid));
    for (const [place, form] of forms.entries()) {
      const answer = await callTokenUrl(requestFor(need, form));
      if (answer.result.isDelivered) {
        if (form !== forms[0]) accepted.set(need.guid, form);
        return readAnswer(answer);
      }
      const isLast = place === forms.length - 1;
      if (isLast || !isUnknownClient(answer)) return refusedBy(answer, need.oauth2);
    }
    throw new Error('a secret has at least one form');
  };
}

function formsOf(
  { secretIn, clientId, clientSecret }: ClientCredentials,
  accepted: SecretForm | undefined,
): SecretForm[] {
  if (secretIn === 'body') return ['body'];
  if (encoded(clientId) === clientId && encoded(clientSecret) === clientSecret) return ['encoded'];
  return accepted === 'as written' ? ['as written', 'encoded'] : ['encoded', 'as written'];
}

const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice('='.length);

function requestFor(need: TokenNeed, form: SecretForm): TokenUrlRequest {
  const { tokenUrl: url, clientId, clientSecret, scope, audience } = need.oauth2;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) body.set('scope', scope);
  if (audience !== undefined) body.set('audience', audience);
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8',
  };
  // Some servers decode everything but the blanks.
  const secrets = [clientSecret, clientSecret.replaceAll(' ', '+')];
  if (form === 'body') {
    body.set('client_id', clientId);
    body.set('client_secret', clientSecret);
  } else {
    const [id, secret] = form === 'encoded' ? [encoded(clientId), encoded(clientSecret)] : [clientId, clientSecret];
    const pair = Buffer.from(`${id}:${secret}`).toString('base64');
    headers['Authorization'] = `Basic ${pair}`;
    secrets.push(pair.replaceAll('=', ''));
  }
  return { url, headers, body: body.toString(), secrets, ...certificateFor(need) };
}

/** Returns the certificate only for connections to the host and port of the callbacks. */
function certificateFor({ oauth2: { tokenUrl }, callbackUrl, certificate }: TokenNeed): Pick<TokenNeed, 'certificate'> {
  const isThere = URL.parse(tokenUrl)?.host === URL.parse(callbackUrl)?.host;
  return certificate !== undefined && isThere ? { certificate } : {};
}

/** Whether the server says that the client, or its secret, is not right (RFC 6749, 5.2). */
function isUnknownClient({ result: { status }, body }: TokenUrlAnswer): boolean {
  return status === 401 || (status === 400 && body.includes('invalid_client'));
}

function refusedBy(answer: TokenUrlAnswer, { secretIn }: ClientCredentials): FetchedToken {
  const other = secretIn === 'body' ? 'header' : 'body';
  const hint = `. If id and secret are right, the server may want them in the ${other}: "secret_in": "${other}"`;
  return {
    kind: answer.result.status === undefined ? 'unanswered' : 'refused',
    failure: tokenFailure(answer, isUnknownClient(answer) ? { hint } : {}),
  };
}

function readAnswer(answer: TokenUrlAnswer): FetchedToken {
  const read = readToken(answer.body);
  if (!('fault' in read)) return { kind: 'issued', ...read };
  // Here secrets are masked.
  const error = read.isTokenMissing ? parsed(answer.result.body ?? '')?.['error'] : undefined;
  const broken = typeof error === 'string' ? `${read.fault}, and "error" is ${quoted(error)}` : read.fault;
  return { kind: 'unusable', failure: tokenFailure(answer, { broken }) };
}

type ReadToken = { token: string; lifeMs: number } | { fault: string; isTokenMissing?: true };

/** Reads what is needed of an answer (RFC 6749, 5.1) and ignores all else; null is absent. The fault has no part of the token. */
function readToken(body: string): ReadToken {
  const answer = parsed(body);
  if (answer === undefined) return { fault: 'it is no object of JSON' };
  const { access_token: token, expires_in: life } = answer;
  const type = answer['token_type'] ?? '';
  if (typeof token !== 'string' || token.trim() === '')
    return { fault: '"access_token" is no text, or an empty one', isTokenMissing: true };
  if (!SENDABLE.test(token.trim())) return { fault: '"access_token" has characters that no header has' };
  if (typeof type !== 'string' || !BEARER.test(type.trim()))
    return { fault: `"token_type" is ${quoted(type)}: callbacks can show Bearer tokens only` };
  return { token: token.trim(), lifeMs: readLifeMs(life) };
}

function readLifeMs(life: unknown): number {
  const isNumber = typeof life === 'number' || (typeof life === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(life));
  const lifeMs = isNumber ? Number(life) * 1_000 : Number.NaN;
  return lifeMs > 0 ? Math.min(lifeMs, LONGEST_LIFE_MS) : ASSUMED_LIFE_MS;
}

/** Undefined for all but an object. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    // An object has members by their names.
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}

const LONGEST_QUOTE = 100;
const quoted = (value: unknown): string => JSON.stringify(value).slice(0, LONGEST_QUOTE);

/** The same limit as for any stored answer. */
const KEPT_BYTES = 4 * 1024;
/** Matches a token in JSON, even quoted in other JSON, in XML or in a form, or in text that looks like one of them. */
const TOKENS = /((?:access|refresh|id)_token[\\"']{0,4}\s?[:=>]\s?[\\"']{0,4})[^\\"'&\s<>,}]+/gi;

/**
 * The result of an attempt without a request, as there is no token: with what the token URL answered, without secrets, but without its
 * status and address, which are not the receiver's. `broken`: why a token that came cannot be used; `hint`: what may be tried.
 */
function tokenFailure({ result }: TokenUrlAnswer, { broken, hint = '' }: TokenFault): AttemptResult {
  const { durationMs, reason, tooMuch, isOurs } = result;
  return {
    isDelivered: false,
    reason: 'credentials_unavailable',
    durationMs,
    body: `${excerpt([Buffer.from(said(result, broken)).subarray(0, KEPT_BYTES - hint.length)])}${hint}`,
    ...(tooMuch && { tooMuch }),
    ...(isOurs && { isOurs }),
    ...(isTimeout(reason) && { isHung: true }),
  };
}

type TokenFault = { broken?: string; hint?: string };

function said(result: AttemptResult, broken: string | undefined): string {
  const { url = '', status, reason, brokenRule, error = '', body = '' } = result;
  const tokenUrl = `The token URL ${url}`.trimEnd();
  // The body of a success has a token.
  if (broken !== undefined) return `${tokenUrl} answered ${status}, which cannot be used: ${broken}`;
  const shown = body === '' ? '' : `: ${body.replaceAll(TOKENS, '$1***')}`;
  if (status !== undefined) return `${tokenUrl} answered ${status}${shown}`;
  if (brokenRule !== undefined) return `${tokenUrl} gave no response of HTTP, as ${brokenRule}${shown}`;
  return `${tokenUrl} could not be reached, or did not answer: ${reason}${error && ` (${error})`}${shown}`;
}
