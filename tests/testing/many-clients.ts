import { randomBytes, randomUUID } from 'node:crypto';
import { readKeyRing } from '@waybell/runtime/secrets';
import { stackFolder } from '@waybell/stack/stack-folder';
import { readRecord } from '@waybell/stack/stack-record';
import type { TestStack } from './test-stack.ts';

const SUBSCRIBE = `
  insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url, verification_token_sealed,
    verification_token_key_id, client_id)
  select guid, $1, $2, $3, url, sealed, key_id, client
  from unnest($4::uuid[], $5::text[], $6::bytea[], $7::text[], $8::text[]) as each (guid, url, sealed, key_id, client)`;

export type ManyClients = { interface: 'shipper' | 'carrier'; action: string; urls: readonly string[] };

/** A new account with a client at each address, subscribed as the API would, all in one statement. */
export async function manyClients(
  stack: TestStack,
  { interface: side, action, urls }: ManyClients,
): Promise<{ account: string; subscriptions: string[] }> {
  const { account } = await stack.client(side);
  const keyRing = readKeyRing(readRecord(stackFolder(stack.home)).secretKeys);
  const rows = urls.map((url, number) => {
    const guid = randomUUID();
    return { guid, url, client: String(number), ...keyRing.seal(randomBytes(32).toString('base64url'), guid) };
  });
  await stack.postgres.query(SUBSCRIBE, [
    side,
    account,
    action,
    rows.map(({ guid }) => guid),
    rows.map(({ url }) => url),
    rows.map(({ sealed }) => sealed),
    rows.map(({ keyId }) => keyId),
    rows.map(({ client }) => client),
  ]);
  return { account, subscriptions: rows.map(({ guid }) => guid) };
}
