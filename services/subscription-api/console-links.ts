import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Queryable } from '@waybell/runtime/postgres';
import { readGuid, requireOpenAccount, unknownAccount } from './accounts.ts';
import { SET_ACTOR, type CallerOrigin } from './actor.ts';
import type { Database } from './database.ts';
import { Refusal } from './refusal.ts';
import { hashToken, newToken, readClientName } from './tokens.ts';

/** Scopes that a link to the console may grant. */
export const LINK_SCOPES = ['webhooks:read', 'webhooks:write'] as const;

export type LinkScope = (typeof LINK_SCOPES)[number];

export type NewConsoleLink = {
  accountGuid: string;
  /** Defaults to `default`. */
  clientId?: string | undefined;
  /** Defaults to reading only. */
  scopes?: readonly LinkScope[] | undefined;
  /** How long it can be opened: a day at most, by default ten minutes. */
  expiresInMs?: number | undefined;
  /** How long one is signed in by it: a day at most, by default an hour. */
  tokenExpiresInMs?: number | undefined;
};

export type ConsoleLink = {
  /** Also the guid of the access token, once the link was opened. */
  guid: string;
  /** Below the address at which clients reach the API. Shown this once. */
  path: string;
  expiresAt: Date;
};

/** How the code of every link begins. */
export const LINK_PREFIX = 'wbk_';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const MAKE = `
  insert into waybell.access_tokens
    (guid, hash, account_guid, client_id, scopes, expires_at, link_token_life, link_made_by)
  select $1, $2, guid, $4, $5, now() + $6 * interval '1 millisecond', $7 * interval '1 millisecond',
    coalesce(nullif(current_setting('waybell.actor', true), '')::jsonb ->> 'who', 'user ' || session_user)
  from waybell.accounts where guid = $3
  returning expires_at`;

const FIND = `
  select guid, link_made_by as who from waybell.access_tokens
  where hash = $1 and link_opened_at is null and revoked_at is null and expires_at > now() for update`;

const OPEN = `
  update waybell.access_tokens set hash = $2, link_opened_at = now(), expires_at = now() + link_token_life
  where guid = $1 returning expires_at`;

const PRUNE = `
  delete from waybell.access_tokens where link_made_by is not null and expires_at < now() - interval '1 day'`;

/** Makes a link that opens the console for a client of the account, once. Only a hash of it is kept. Throws Refusal on bad input. */
export async function createConsoleLink(postgres: Queryable, link: NewConsoleLink): Promise<ConsoleLink> {
  const { scopes = ['webhooks:read'], expiresInMs = 10 * MINUTE_MS, tokenExpiresInMs = 60 * MINUTE_MS } = link;
  const accountGuid = readGuid(link.accountGuid);
  const guid = randomUUID();
  const code = LINK_PREFIX + randomBytes(32).toString('base64url');
  for (const lifeMs of [expiresInMs, tokenExpiresInMs]) requireShort(lifeMs);
  const clientId = readClientName(link.clientId ?? 'default');
  await requireOpenAccount(postgres, accountGuid);
  const values = [guid, hashCode(code), accountGuid, clientId, [...new Set(scopes)], expiresInMs, tokenExpiresInMs];
  const made = (await postgres.query<{ expires_at: Date }>(MAKE, values)).rows[0];
  if (made === undefined) throw unknownAccount(accountGuid);
  return { guid, path: `/console/#link=${code}`, expiresAt: made.expires_at };
}

/**
 * Exchanges the code of a link for an access token, in a transaction. The audit log has it under the name of the maker of the link.
 * Undefined if the code is none, was exchanged before or revoked, or is too late.
 */
export async function openConsoleLink(
  postgres: Queryable,
  code: string,
  from: CallerOrigin,
): Promise<{ token: string; expiresAt: Date } | undefined> {
  const found = (await postgres.query<{ guid: string; who: string }>(FIND, [hashCode(code)])).rows[0];
  if (found === undefined) return undefined;
  const token = newToken();
  await postgres.query(SET_ACTOR, [JSON.stringify({ ...from, who: found.who })]);
  const { rows } = await postgres.query<{ expires_at: Date }>(OPEN, [found.guid, hashToken(token)]);
  return rows[0] && { token, expiresAt: rows[0].expires_at };
}

/** Forgets links and their tokens a day after their end. */
export async function pruneConsoleLinks(database: Pick<Database, 'run'>): Promise<void> {
  await database.run((source) => source.query(PRUNE));
}

/** Never the hash of an access token: a code that was not exchanged yet is none. */
function hashCode(code: string): Buffer {
  return createHash('sha256').update(`console link ${code}`).digest();
}

function requireShort(lifeMs: number): void {
  if (!(lifeMs > 0 && lifeMs <= DAY_MS)) throw new Refusal('a link, and a sign-in by it, last at most a day');
}
