import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { wait, type Delivery, type EndpointRoom } from '@waybell/line/delivery';
import type { InterfaceName } from '@waybell/line/outcomes';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';

/** A delivery of one subscription, to be put into its endpoint's room as the deliverer would. */
export type ToPut = { delivery: string; event: string; body: string };

type Batch = { subscription: string; interface: InterfaceName; action: string; deliveries: readonly ToPut[] };

const AT_ONCE = 5_000;

/** Has deliveries wait as if their endpoint, hung, had had no room for them a moment ago; the first is the oldest. */
export async function putByHand(postgres: pg.Pool, { deliveries, ...to }: Batch): Promise<void> {
  const { generation, ...room } = await targetOf(postgres, to.subscription);
  const store = waitingIn(postgres, { process: randomUUID() });
  const madeAt = wallClockMs() - deliveries.length;
  const rows = deliveries.map(({ delivery: guid, event, body }, place) => {
    const at = madeAt + place;
    const made: Delivery = {
      ...to,
      guid,
      event,
      generation,
      attempt: 1,
      createdAt: at,
      beganAt: at + 1,
      body: Buffer.from(body),
      room,
    };
    return wait(made, { why: 'hung' }).row;
  });
  for (let from = 0; from < rows.length; from += AT_ONCE) await store.put(rows.slice(from, from + AT_ONCE));
  await store.flushSums();
}

async function targetOf(postgres: pg.Pool, subscription: string): Promise<EndpointRoom & { generation: number }> {
  const { rows } = await postgres.query<EndpointRoom & { generation: number }>(
    `select generation, account_guid as account, replace(waybell.room_of(account_guid, callback_url)::text, '-', '') as room
     from waybell.delivery_targets where subscription_guid = $1`,
    [subscription],
  );
  if (rows[0] === undefined) throw new Error(`no subscription ${subscription}`);
  return rows[0];
}

/** How many deliveries of a subscription wait. */
export async function waitingOf(postgres: pg.Pool, subscription: string): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>(
    'select count(*)::int as count from waybell.deliverer_waiting where subscription = $1',
    [subscription],
  );
  return rows[0]?.count ?? 0;
}
