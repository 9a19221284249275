import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { validate } from 'uuid';
import { readGuid, unknownAccount } from './accounts.ts';
import { Refusal } from './refusal.ts';

/** What a token may do: see subscriptions, change them, and run the service. */
export const SCOPES = ['webhooks:read', 'webhooks:write', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export type TokenSummary = {
  guid: string;
  client_id: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

type Queryable = Pick<pg.Pool, 'query'>;

const PREFIX = 'wbl_';
const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Makes an access token of a client of the account and returns it, this once: only its SHA-256 is kept. Without
 * `scopes` it may read and write webhooks; without `expiresInMs` it holds until revoked. Throws Refusal on bad input.
 */
export async function createToken(
  postgres: Queryable,
  token: {
    accountGuid: string;
    clientId?: string | undefined;
    scopes?: readonly string[] | undefined;
    expiresInMs?: number | undefined;
  },
): Promise<string> {
  const accountGuid = readGuid(token.accountGuid);
  const clientId = token.clientId ?? 'default';
  if (!/^[\x21-\x7e]{1,200}$/.test(clientId)) {
    throw new Refusal(`"${clientId}" is not a client name: 1 to 200 visible ASCII characters`);
  }
  const secret = PREFIX + randomBytes(32).toString('base64url');
  const values = [randomUUID(), hashToken(secret), accountGuid, clientId, readScopes(token.scopes), expiry(token)];
  try {
    await postgres.query(
      `insert into waybell.access_tokens (guid, hash, account_guid, client_id, scopes, expires_at)
       values ($1, $2, $3, $4, $5, $6)`,
      values,
    );
  } catch (error) {
    const isUnknown = error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION;
    throw isUnknown ? unknownAccount(accountGuid) : error;
  }
  return secret;
}

/** Ends a token, named by itself or by its guid, at once. Revoking twice is fine. Throws Refusal where there is none. */
export async function revokeToken(postgres: Queryable, tokenOrGuid: string): Promise<void> {
  const isGuid = validate(tokenOrGuid);
  const { rowCount } = await postgres.query(
    `update waybell.access_tokens set revoked_at = coalesce(revoked_at, now()) where ${isGuid ? 'guid' : 'hash'} = $1`,
    [isGuid ? tokenOrGuid.toLowerCase() : hashToken(tokenOrGuid)],
  );
  if (rowCount === 0) throw new Refusal('there is no such token: give the token itself or its guid');
}

/** The account's tokens, oldest first; how the guid of a lost one is found. */
export async function listTokens(postgres: Queryable, accountGuid: string): Promise<TokenSummary[]> {
  const { rows } = await postgres.query<TokenSummary>(
    `select guid, client_id, scopes, created_at, expires_at, revoked_at, last_used_at
     from waybell.access_tokens where account_guid = $1 order by created_at`,
    [readGuid(accountGuid)],
  );
  return rows;
}

/** What is kept of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function readScopes(scopes: readonly string[] = ['webhooks:read', 'webhooks:write']): string[] {
  const known: readonly string[] = SCOPES;
  const unknown = scopes.find((scope) => !known.includes(scope));
  if (unknown !== undefined) throw new Refusal(`"${unknown}" is not a scope: there are ${SCOPES.join(', ')}`);
  if (scopes.length === 0) throw new Refusal(`a token without a scope can do nothing: there are ${SCOPES.join(', ')}`);
  return [...new Set(scopes)];
}

function expiry({ expiresInMs }: { expiresInMs?: number | undefined }): Date | null {
  if (expiresInMs === undefined) return null;
  if (!(expiresInMs > 0)) throw new Refusal('a token cannot expire before it begins');
  const expiresAt = new Date(Date.now() + expiresInMs);
  if (Number.isNaN(expiresAt.getTime())) throw new Refusal('the token would expire too far in the future');
  return expiresAt;
}
