import type { Request } from 'express';
/** Callers of the API: how a request's token names them, and what they may do. */
import type { Interface } from '@waybell/catalog/action';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Actor, CallerOrigin } from '../../actor.ts';
import type { Database } from '../../database.ts';
import type { Account } from '../../tables.ts';
import { TOKEN_PREFIX, hashToken, type Scope } from '../../tokens.ts';
import { Problem } from '../http/problem.ts';

/** The client of an account that sent the request, and its rights. */
export type Caller = {
  interface: Interface;
  accountGuid: string;
  accountName: string | null;
  clientId: string;
  features: readonly string[];
  scopes: readonly string[];
  /** Why there may be no scope, for people: what the token lacks. */
  whyNoScope?: string;
  /** Named for what it changes. */
  actor: Actor;
  /** An operator acts for the client. */
  isOperator?: true;
};

/** The client as the delivery log knows it. */
export const clientOf = ({ accountGuid, clientId, interface: interfaceName }: Caller): ClientReader => ({
  account: accountGuid,
  client: clientId,
  interface: interfaceName,
});

/** Finds who sent a request. Throws a Problem if it has no valid token, Unavailable if that cannot be known now. */
export type Authenticate = (request: Request) => Promise<Caller>;

/** Finds the owner of a token. Throws a Problem (401, `invalidToken`) if it is not valid, Unavailable if that cannot be known now. */
export type FindCaller = (token: string, from: CallerOrigin) => Promise<Caller>;

const SCHEME = 'bearer ';
const TOKEN_LIMIT = 8_192;

/** Knows callers by bearer tokens (RFC 6750): opaque ones by their prefix, all others are JWTs where those are on. */
export function authenticateBearer({ opaque, jwt }: { opaque: FindCaller; jwt: FindCaller | undefined }): Authenticate {
  return (request) => {
    const token = requireBearerToken(request);
    const from = originOf(request);
    return jwt === undefined || token.startsWith(TOKEN_PREFIX) ? opaque(token, from) : jwt(token, from);
  };
}

export const originOf = (request: Request): CallerOrigin => ({
  origin: request.ip ?? 'unknown',
  requestId: request.res?.locals['requestId'] ?? null,
});

/**
 * Returns the text after `Bearer` in the request's `Authorization`; undefined without that header. Two such headers count as a
 * malformed one: a proxy in front may have used either.
 */
export function bearerTokenOf(request: Request): string | undefined {
  const given = (request.headersDistinct['authorization'] ?? []).join(', ');
  if (given.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  const token = given.slice(SCHEME.length).trim();
  return token === '' ? undefined : token;
}

function requireBearerToken(request: Request): string {
  const token = bearerTokenOf(request);
  if (token === undefined) {
    const detail = 'Send the header "Authorization: Bearer <access token>".';
    throw new Problem('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer realm="waybell"' } });
  }
  // The syntax of RFC 6750; anything else cannot be one of ours.
  if (token.length > TOKEN_LIMIT || !/^[\w.~+/-]+=*$/.test(token)) throw invalidToken('The access token is malformed.');
  return token;
}

/** The answer to a token that is not valid; `detail` is for people, and in the challenge as far as RFC 6750 allows. */
export function invalidToken(detail: string): Problem {
  const description = detail.replaceAll(/[^\x20-\x7e]|["\\]/g, '');
  const challenge = `Bearer realm="waybell", error="invalid_token", error_description="${description}"`;
  return new Problem('invalid-token', detail, { headers: { 'www-authenticate': challenge } });
}

/** Postgres decides by its clock, so that no date has to be read. */
const FIND = `
  select t.guid, t.client_id as "clientId", t.scopes, a.interface, a.guid as "accountGuid", a.name as "accountName", a.features,
    case when t.revoked_at is not null then 'revoked' when t.expires_at <= now() then 'expired' else 'valid' end as state,
    coalesce(t.last_used_at > now() - interval '1 minute', false) as "isUseNoted"
  from waybell.access_tokens t join waybell.accounts a on a.guid = t.account_guid where t.hash = $1`;

type FoundToken = Pick<Account, 'interface' | 'features'> & {
  guid: string;
  clientId: string;
  scopes: string[];
  accountGuid: string;
  accountName: string | null;
  state: 'revoked' | 'expired' | 'valid';
  isUseNoted: boolean;
};

/** To the minute: a busy token costs one write a minute, not one per request. */
const NOTE_USE = `
  update waybell.access_tokens set last_used_at = now()
  where guid = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`;

/** Knows callers by opaque access tokens, asking Postgres for each: a token that is revoked ends at once. */
export function byAccessToken(database: Database): FindCaller {
  return async (token, from) => {
    const [found] = await database.run((source) => source.query<FoundToken[]>(FIND, [hashToken(token)]));
    if (found === undefined) throw invalidToken('The access token is unknown.');
    const { guid, state, isUseNoted, ...caller } = found;
    if (state === 'revoked') throw invalidToken('The access token was revoked.');
    if (state !== 'valid') throw invalidToken('The access token expired.');
    if (!isUseNoted) await database.run((source) => source.query(NOTE_USE, [guid]));
    return { ...caller, actor: { who: `token ${guid}`, ...from } };
  };
}

/** Throws a Problem (403) unless the caller belongs to the interface and has the scope. */
export function requireRight(caller: Caller, right: { interface: Interface; scope: Scope }): void {
  if (caller.interface !== right.interface) {
    const detail = `This is the ${right.interface} interface; the access token is for the ${caller.interface} one.`;
    const challenge = `Bearer realm="waybell", error="insufficient_scope", error_description="${detail}"`;
    throw new Problem('other-interface', detail, { headers: { 'www-authenticate': challenge } });
  }
  requireScope(caller, right.scope);
}

/** Throws a Problem (403) unless the caller has the scope, on whichever interface. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  const challenge = `Bearer realm="waybell", error="insufficient_scope", scope="${scope}"`;
  const none = caller.whyNoScope === undefined ? 'none' : `none: it has ${caller.whyNoScope}`;
  const detail = `This needs the scope ${scope}; the access token has ${caller.scopes.join(', ') || none}.`;
  throw new Problem('insufficient-scope', detail, { headers: { 'www-authenticate': challenge } });
}

/** Whether verification tokens are shown: who may change subscriptions has to set them, operators only act for the client. */
export const seesTokens = ({ scopes, isOperator }: Caller): boolean =>
  scopes.includes('webhooks:write') && isOperator !== true;
