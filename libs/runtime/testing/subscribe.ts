import { randomUUID } from 'node:crypto';

type Tables = { query(text: string, values: unknown[]): Promise<unknown> };

type What = Partial<Record<'guid' | 'account' | 'client' | 'action' | 'callbackUrl', string>> & {
  interface?: 'shipper' | 'carrier';
  generation?: number;
  /** The sealed verification token; a subscription without one is never called. */
  token?: { sealed: Buffer; keyId: string };
  isEnded?: boolean;
};

/**
 * Has this subscription in the tables, of an account of its own or of this one, made unless they are there. Its interface is
 * that of an account that is there. Resolves with its guid.
 */
export async function subscribe(postgres: Tables, what: What = {}): Promise<string> {
  const { guid = randomUUID(), account = randomUUID(), client = 'default', action = 'order.created' } = what;
  const { callbackUrl = 'https://a.test', generation = 1, isEnded = false } = what;
  const { sealed, keyId } = what.token ?? { sealed: Buffer.of(0), keyId: 'k' };
  await postgres.query(
    `with account as (
       insert into waybell.accounts (guid, interface) values ($1, $2) on conflict do nothing
     )
     insert into waybell.subscriptions (account_guid, interface, guid, client_id, action, callback_url, generation,
       verification_token_sealed, verification_token_key_id, is_active, ended_at)
     values ($1, coalesce((select interface from waybell.accounts where guid = $1), $2), $3, $4, $5, $6, $7, $8, $9, not $10::boolean, case when $10 then now() end)
     on conflict (guid) do nothing`,
    [account, what.interface ?? 'carrier', guid, client, action, callbackUrl, generation, sealed, keyId, isEnded],
  );
  return guid;
}
