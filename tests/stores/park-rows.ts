import { randomUUID } from 'node:crypto';
import { park, type Delivery, type Parking } from '@waybell/line/delivery';
import type { Postgres } from '@waybell/runtime/postgres';
import { START } from './log-stand.ts';

export const aDelivery = (what: Partial<Delivery> & Pick<Delivery, 'subscription'>): Delivery => ({
  guid: randomUUID(),
  interface: 'carrier',
  action: 'order.created',
  generation: 1,
  event: randomUUID(),
  attempt: 1,
  createdAt: START,
  beganAt: START,
  body: Buffer.from('{"name":"Jane Doe"}'),
  ...what,
});

type Rows = Pick<Postgres, 'query'>;

/** A subscription of an account of its own, or of this one, to whatever action is free; resolves with its guid. */
export async function subscribeTo(
  postgres: Rows,
  callbackUrl: string,
  account: string = randomUUID(),
): Promise<string> {
  await postgres.query(`insert into waybell.accounts (guid, interface) values ($1, 'carrier') on conflict do nothing`, [
    account,
  ]);
  const guid = randomUUID();
  await postgres.query(
    `insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url, verification_token_sealed,
       verification_token_key_id, client_id)
     values ($1, 'carrier', $2, 'order.created', $3, '\\x00', 'k', $4)`,
    [guid, account, callbackUrl, guid],
  );
  return guid;
}

/** The account is that of its subscription. */
export type HowParked = Omit<Parking, 'account'>;

/** Parks a delivery as a deliverer would, with the head that its subscription then has. */
export async function parkRow(postgres: Rows, delivery: Delivery, how: HowParked = { why: 'hung' }): Promise<void> {
  const { row } = park(delivery, { account: '', ...how });
  await postgres.query(
    `insert into waybell.parked_heads (subscription, account, shard, is_hung, look_at)
     select guid, account_guid, waybell.shard_of(account_guid), $2, 'infinity' from waybell.subscriptions where guid = $1
     on conflict do nothing`,
    [row.subscription, row.why === 'hung'],
  );
  await postgres.query(
    `insert into waybell.parked (subscription, created_at, delivery, attempt, hop, why, parked_at, not_before, action, note, body)
     values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms', $9, $10, $11)`,
    [
      row.subscription,
      row.createdAt,
      row.delivery,
      row.attempt,
      row.hop,
      row.why,
      new Date(row.createdAt + 5_000),
      row.notBeforeMs ?? null,
      row.action,
      row.note,
      row.body,
    ],
  );
  await postgres.query(
    `insert into waybell.parked_sums as s (account, rows, bytes)
     select account_guid, 1, $2 from waybell.subscriptions where guid = $1
     on conflict (account) do update set rows = s.rows + 1, bytes = s.bytes + excluded.bytes`,
    [row.subscription, row.body.length],
  );
}
