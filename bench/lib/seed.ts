import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { readKeyRing } from '@waybell/runtime/secrets';
import { accountGuid, actionKeyOf, type Group } from './workload.ts';

export type Subscribers = Group & {
  /** The address at which subscriber n is called. */
  callbackUrl: (n: number) => string;
};

const BATCH = 20_000;

/** Accounts with this number and the subscription of each; what is there stays. */
const ACCOUNTS = `
  insert into waybell.accounts (guid, interface)
  select * from unnest($1::uuid[], $2::text[]) on conflict do nothing`;

/** The state after hours of traffic: each shows a success within the hour, which the next one after that hour will renew. */
const SUBSCRIPTIONS = `
  insert into waybell.subscriptions
    (guid, interface, account_guid, action, callback_url, verification_token_sealed, verification_token_key_id,
      client_id, last_success_at)
  select *, now() - random() * interval '1 hour'
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::text[])
  on conflict do nothing`;

/** Fills the tables as the API would, many rows at a time. */
export async function seed(postgres: pg.Pool, secretKeys: string, subscribers: Subscribers): Promise<void> {
  for (let from = subscribers.from; from < subscribers.to; from += BATCH) {
    await seedBatch(postgres, secretKeys, { ...subscribers, from, to: Math.min(from + BATCH, subscribers.to) });
  }
  await postgres.query('vacuum analyze waybell.accounts, waybell.subscriptions');
}

async function seedBatch(postgres: pg.Pool, secretKeys: string, subscribers: Subscribers): Promise<void> {
  const keyRing = readKeyRing(secretKeys);
  const { from, to, callbackUrl, account } = subscribers;
  const rows = Array.from({ length: to - from }, (_, place) => {
    const n = from + place;
    const [, interfaceName, action] = /^(\w+)\.(.+)$/.exec(actionKeyOf(subscribers, n)) ?? [];
    const guid = randomUUID();
    return { n, guid, interfaceName, action, ...keyRing.seal(randomBytes(32).toString('base64url'), guid) };
  });
  const accounts = rows.map(({ n }) => accountGuid(account ?? n));
  const interfaces = rows.map(({ interfaceName }) => interfaceName);
  await postgres.query(ACCOUNTS, [accounts, interfaces]);
  await postgres.query(SUBSCRIPTIONS, [
    rows.map(({ guid }) => guid),
    interfaces,
    accounts,
    rows.map(({ action }) => action),
    rows.map(({ n }) => callbackUrl(n)),
    rows.map(({ sealed }) => sealed),
    rows.map(({ keyId }) => keyId),
    rows.map(({ n }) => (account === undefined ? 'default' : String(n))),
  ]);
}
