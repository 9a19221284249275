/** The API clients of an account: those that have, or had, an access token or a subscription. No listeners. */
import type { Queryable } from '@waybell/runtime/postgres';

export type AccountClient = {
  client_id: string;
  /** Current subscriptions, and how many of them are switched off. */
  subscriptions: number;
  switched_off: number;
  /** Access tokens that are valid, without links to the console that were not opened. Those of an issuer of JWTs are not known here. */
  tokens: number;
  /** The latest use of one, to the minute; null: never. */
  token_last_used_at: Date | null;
};

const CLIENTS = `
  select client_id, sum(subscriptions)::int as subscriptions, sum(switched_off)::int as switched_off, sum(tokens)::int as tokens,
    max(last_used_at) as token_last_used_at
  from (
    select client_id, count(*) filter (where ended_at is null) as subscriptions,
      count(*) filter (where ended_at is null and not is_active) as switched_off, 0 as tokens, null::timestamptz as last_used_at
    from waybell.subscriptions where account_guid = $1 and not waybell.is_listener(client_id) group by client_id
    union all
    select client_id, 0, 0, count(*) filter (where revoked_at is null and (expires_at is null or expires_at > now())
      and (link_made_by is null or link_opened_at is not null)), max(last_used_at)
    from waybell.access_tokens where account_guid = $1 group by client_id
  ) known
  group by client_id order by client_id`;

/** Finds clients by their ids. */
export async function clientsOf(postgres: Queryable, account: string): Promise<AccountClient[]> {
  return (await postgres.query<AccountClient>(CLIENTS, [account])).rows;
}
