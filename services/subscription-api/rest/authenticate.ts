import type { Interface } from '@waybell/catalog/action';
import type { Request } from 'express';
import type { Database } from '../database.ts';
import { accessTokenTable, type AccessToken } from '../tables/access-token.ts';
import { hashToken, type Scope } from '../tokens.ts';
import { Problem } from './problem.ts';

/** Who asks: a client of an account, and what it may do. */
export type Caller = {
  interface: Interface;
  accountGuid: string;
  clientId: string;
  features: readonly string[];
  scopes: readonly string[];
};

/** Throws a Problem where the request carries no token that holds, Unavailable where that cannot be known now. */
export type Authenticate = (request: Request) => Promise<Caller>;

const USE_NOTED_EVERY_MS = 60_000;

/** Knows callers by opaque access tokens (RFC 6750). */
export function authenticateByAccessToken(database: Database): Authenticate {
  return async (request) => {
    const token = readBearerToken(request.get('authorization'));
    const found = await database.run((source) =>
      source
        .getRepository(accessTokenTable)
        .findOne({ where: { hash: hashToken(token) }, relations: { account: true } }),
    );
    if (found === null) throw invalidToken('The access token is unknown.');
    if (found.revoked_at !== null) throw invalidToken('The access token was revoked.');
    if (found.expires_at !== null && found.expires_at.getTime() <= Date.now()) {
      throw invalidToken('The access token expired.');
    }
    await noteUse(database, found);
    const { account, client_id: clientId, scopes } = found;
    const { interface: interfaceName, guid: accountGuid, features } = account;
    return { interface: interfaceName, accountGuid, clientId, features, scopes };
  };
}

/** Throws a Problem (403) unless the caller belongs to the interface and has the scope. */
export function requireRight(caller: Caller, right: { interface: Interface; scope: Scope }): void {
  if (caller.interface !== right.interface) {
    const detail = `This is the ${right.interface} interface; the access token is for the ${caller.interface} one.`;
    throw new Problem('other-interface', detail);
  }
  if (!caller.scopes.includes(right.scope)) {
    const challenge = `Bearer realm="waybell", error="insufficient_scope", scope="${right.scope}"`;
    const detail = `This needs the scope ${right.scope}; the access token has ${caller.scopes.join(', ')}.`;
    throw new Problem('insufficient-scope', detail, { headers: { 'www-authenticate': challenge } });
  }
}

function readBearerToken(header: string | undefined): string {
  const [, token] = /^bearer(?: +(.*?))? *$/i.exec(header ?? '') ?? [];
  if (token === undefined || token === '') {
    const detail = 'Send the header "Authorization: Bearer <access token>".';
    throw new Problem('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer realm="waybell"' } });
  }
  // The syntax of RFC 6750; anything else cannot be one of ours.
  if (!/^[\w.~+/-]{1,4096}=*$/.test(token)) throw invalidToken('The access token is malformed.');
  return token;
}

function invalidToken(detail: string): Problem {
  const challenge = `Bearer realm="waybell", error="invalid_token", error_description="${detail}"`;
  return new Problem('invalid-token', detail, { headers: { 'www-authenticate': challenge } });
}

/** Keeps `last_used_at` to the minute: a busy token costs one write a minute, not one per request. */
async function noteUse(database: Database, { guid, last_used_at: lastUsedAt }: AccessToken): Promise<void> {
  if (lastUsedAt !== null && Date.now() - lastUsedAt.getTime() < USE_NOTED_EVERY_MS) return;
  const sql = `update waybell.access_tokens set last_used_at = now()
    where guid = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`;
  await database.run((source) => source.query(sql, [guid]));
}
