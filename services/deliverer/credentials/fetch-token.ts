import { LRUCache } from 'lru-cache';
import type { ClientCredentials } from '@waybell/notifications/receiver-credentials';
import { isTimeout } from '../endpoints/endpoint.ts';
import type { AttemptResult } from '../request/attempt.ts';
import type { CallTokenUrl, TokenUrlAnswer, TokenUrlRequest } from '../request/call-endpoint.ts';
import { excerpt } from '../request/excerpt.ts';
import type { Credentials } from './credentials.ts';

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
