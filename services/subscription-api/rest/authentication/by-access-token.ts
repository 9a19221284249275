import type { Database } from '../../database.ts';
import { accessTokenTable, type AccessToken } from '../../tables/access-token.ts';
import { hashToken } from '../../tokens.ts';
import { invalidToken, type FindCaller } from './authenticate.ts';

const USE_NOTED_EVERY_MS = 60_000;

/** Knows callers by opaque access tokens, asking Postgres for each: a token that is revoked ends at once. */
export function byAccessToken(database: Database): FindCaller {
  return async (token, from) => {
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
    const { interface: interfaceName, guid: accountGuid, name: accountName, features } = account;
    const actor = { who: `token ${found.guid}`, ...from };
    return { interface: interfaceName, accountGuid, accountName, clientId, features, scopes, actor };
  };
}

/** Keeps `last_used_at` to the minute: a busy token costs one write a minute, not one per request. */
async function noteUse(database: Database, { guid, last_used_at: lastUsedAt }: AccessToken): Promise<void> {
  if (lastUsedAt !== null && Date.now() - lastUsedAt.getTime() < USE_NOTED_EVERY_MS) return;
  const sql = `update waybell.access_tokens set last_used_at = now()
    where guid = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`;
  await database.run((source) => source.query(sql, [guid]));
}
