import type pg from 'pg';
import { publishDelivery } from '@waybell/line/delivery';
import type { InterfaceName } from '@waybell/line/outcomes';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';

/** A delivery of one subscription, to be parked as the deliverer would. */
export type ToPark = { delivery: string; event: string; body: string };

type Batch = { subscription: string; interface: InterfaceName; action: string; deliveries: readonly ToPark[] };

const AT_ONCE = 5_000;
const FIRST = { attempt: 1, hop: 1 };

/** The head is locked until all is committed: an empty one that is deleted meanwhile would leave the rows behind. */
const PARK = `
  with target as (
    select account_guid as account from waybell.delivery_targets where subscription_guid = $1
  ), head as (
    insert into waybell.parked_heads (subscription, account, shard)
    select $1, account, waybell.shard_of(account) from target
    on conflict (subscription) do update set look_at = now()
  ), made as (
    insert into waybell.parked (subscription, action, attempt, hop, why, created_at, delivery, note, body)
    select $1, $2, $3, $4, $5, created_at, delivery, note, convert_to(body, 'UTF8')
    from unnest($6::bigint[], $7::text[], $8::text[], $9::text[]) as each (created_at, delivery, note, body)
    returning octet_length(body) as bytes
  )
  insert into waybell.parked_sums (account, rows, bytes)
  select account, count(*), sum(bytes) from target, made group by account
  on conflict (account) do update
  set rows = parked_sums.rows + excluded.rows, bytes = parked_sums.bytes + excluded.bytes`;

/** Parks deliveries as if their endpoint, hung, had had no room for them a moment ago; the first is the oldest. */
export async function parkByHand(postgres: pg.Pool, { deliveries, ...to }: Batch): Promise<void> {
  const generation = await generationOf(postgres, to.subscription);
  const madeAt = wallClockMs() - deliveries.length;
  for (let from = 0; from < deliveries.length; from += AT_ONCE) {
    const some = deliveries.slice(from, from + AT_ONCE);
    const createdAt = some.map((_, place) => madeAt + from + place);
    const notes = some.map(({ delivery, event, body }, place) => {
      const at = createdAt[place] ?? madeAt;
      const facts = { ...to, ...FIRST, guid: delivery, event, generation, createdAt: at, beganAt: at };
      return publishDelivery({ ...facts, body: Buffer.from(body) }).note;
    });
    await postgres.query(PARK, [
      to.subscription,
      `${to.interface}.${to.action}`,
      FIRST.attempt,
      FIRST.hop,
      'hung',
      createdAt,
      some.map(({ delivery }) => delivery),
      notes,
      some.map(({ body }) => body),
    ]);
  }
}

async function generationOf(postgres: pg.Pool, subscription: string): Promise<number> {
  const { rows } = await postgres.query<{ generation: number }>(
    'select generation from waybell.delivery_targets where subscription_guid = $1',
    [subscription],
  );
  if (rows[0] === undefined) throw new Error(`no subscription ${subscription}`);
  return rows[0].generation;
}

/** How many deliveries of a subscription are parked. */
export async function parkedOf(postgres: pg.Pool, subscription: string): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>(
    'select count(*)::int as count from waybell.parked where subscription = $1',
    [subscription],
  );
  return rows[0]?.count ?? 0;
}
