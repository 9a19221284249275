import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { isGuid } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { findAccount, readGuid, requireOpenAccount } from './accounts.ts';
import { Refusal } from './refusal.ts';

/** Scopes of a token: see subscriptions, change them, and run the service. */
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
  /** Whether it is that of a link to the console, which was opened or not yet. */
  console_link: 'unopened' | 'opened' | null;
};

/** Scopes of a token that was not narrowed or widened. */
export const DEFAULT_SCOPES: readonly Scope[] = ['webhooks:read', 'webhooks:write'];

/** How every opaque token begins, so that scanners find leaked ones. */
export const TOKEN_PREFIX = 'wbl_';

// RFC 3339 has no way to write a later year.
const LAST_EXPIRY = new Date('9999-12-31T00:00:00Z');

/**
 * Makes an access token of a client of the account and returns it, this once: only its SHA-256 is kept. Without
 * `scopes` it may read and write webhooks; without `expiresInMs` it holds until revoked. Throws Refusal on bad input.
 */
export async function createToken(
  postgres: Queryable,
  token: {
    accountGuid: string;
    guid?: string | undefined;
    clientId?: string | undefined;
    scopes?: readonly string[] | undefined;
    expiresInMs?: number | undefined;
  },
): Promise<string> {
  const accountGuid = readGuid(token.accountGuid);
  const secret = newToken();
  const clientId = readClientName(token.clientId ?? 'default');
  const scopes = readScopes(token.scopes ?? DEFAULT_SCOPES);
  const values = [token.guid ?? randomUUID(), hashToken(secret), accountGuid, clientId, scopes, expiry(token)];
  await requireOpenAccount(postgres, accountGuid);
  await postgres.query(
    `insert into waybell.access_tokens (guid, hash, account_guid, client_id, scopes, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    values,
  );
  return secret;
}

/** Makes the text of a token, which is worth nothing until its hash is stored. */
export const newToken = (): string => TOKEN_PREFIX + randomBytes(32).toString('base64url');

/** Subscriptions that go on although there is no access token for them any more. Tokens of a JWT issuer are not known. */
export type GoingOn = { account: string; client: string; subscriptions: number; ofAccount: number };

/** Counts none of the account while it has another token. */
const GOING_ON = `
  select $1::uuid as account, $2::text as client, count(*) filter (where s.client_id = $2)::int as subscriptions,
    case when exists (select from waybell.access_tokens where account_guid = $1 and revoked_at is null
      and link_made_by is null and (expires_at is null or expires_at > now())) then 0 else count(*)::int end as "ofAccount"
  from waybell.subscriptions s
  where s.account_guid = $1 and s.ended_at is null and not waybell.is_listener(s.client_id)
    and not exists (select from waybell.access_tokens t where t.account_guid = $1 and t.client_id = $2 and t.revoked_at is null
      and t.link_made_by is null and (t.expires_at is null or t.expires_at > now()))`;

/**
 * Ends a token, named by itself or by its guid, at once. Revoking twice is fine. Returns what goes on although it was the last of its
 * client; undefined where nothing does. Throws Refusal where there is none.
 */
export async function revokeToken(postgres: Queryable, tokenOrGuid: string): Promise<GoingOn | undefined> {
  const isByGuid = isGuid(tokenOrGuid);
  const { rows: revoked } = await postgres.query<{ account_guid: string; client_id: string }>(
    `update waybell.access_tokens set revoked_at = coalesce(revoked_at, now()) where ${isByGuid ? 'guid' : 'hash'} = $1
     returning account_guid, client_id`,
    [isByGuid ? tokenOrGuid.toLowerCase() : hashToken(tokenOrGuid)],
  );
  const [token] = revoked;
  if (token === undefined) {
    throw new Refusal('there is no such token: give the token itself or its guid', 'unknown-token');
  }
  const { rows } = await postgres.query<GoingOn>(GOING_ON, [token.account_guid, token.client_id]);
  return rows.find(({ subscriptions, ofAccount }) => subscriptions + ofAccount > 0);
}

/**
 * Lists an account's tokens, oldest first, without those of links that have ended; so the guid of a lost one is found. Throws Refusal if
 * there is no such account.
 */
export async function listTokens(postgres: Queryable, account: string): Promise<TokenSummary[]> {
  const accountGuid = readGuid(account);
  const { rows } = await postgres.query<TokenSummary>(
    `select guid, client_id, scopes, created_at, expires_at, revoked_at, last_used_at,
       case when link_opened_at is not null then 'opened' when link_made_by is not null then 'unopened' end as console_link
     from waybell.access_tokens where account_guid = $1 and (link_made_by is null or expires_at > now()) order by created_at`,
    [accountGuid],
  );
  if (rows.length > 0) return rows;
  await findAccount(postgres, accountGuid);
  return [];
}

/** Reads the name of a client. Throws Refusal if it is none. */
export function readClientName(text: string): string {
  if (!isClientName(text)) throw new Refusal(`"${text}" is not a client name: 1 to 200 visible ASCII characters`);
  return text;
}

export function isClientName(text: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(text);
}

/** The stored form of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Reads scopes, each once. Throws Refusal if there is none, or one is not known. */
export function readScopes(scopes: readonly string[]): string[] {
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
  if (!(expiresAt < LAST_EXPIRY)) throw new Refusal('the token would expire too far in the future');
  return expiresAt;
}
