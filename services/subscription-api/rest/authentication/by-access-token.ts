import type { Database } from '../../database.ts';
import type { Account } from '../../tables/account.ts';
import { hashToken } from '../../tokens.ts';
import { invalidToken, type FindCaller } from './authenticate.ts';

/** Postgres judges, by its own clock, so that no date has to be read. */
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
