import { createAccount } from '@waybell/subscription-api/accounts';
import { DAY_MS, START, type LogStand } from './log-stand.ts';

export type Many = { account: string; exhausted: string[]; rare: string[]; waiting: string };

const DAYS = 8;

/**
 * A client with so many deliveries over a week, all delivered but three exhausted and one, days old, that waits; two are
 * of another action. As many are another client's, all exhausted.
 */
export async function logMany(stand: LogStand, count: number): Promise<Many> {
  const [account, other] = [await aCarrier(stand), await aCarrier(stand)];
  for (let day = 0; day < DAYS; day += 1) await stand.partitions.ensure([START - day * DAY_MS]);
  const often = await stand.subscribe(account, 'order.created');
  const seldom = await stand.subscribe(account, 'order.updated');
  const theirs = await stand.subscribe(other, 'order.created');
  await generate(stand, { account, subscription: often, kind: 'delivered', count });
  await generate(stand, { account: other, subscription: theirs, kind: 'exhausted', count });
  const rare = await generate(stand, { account, subscription: seldom, kind: 'delivered', count: 2 });
  const [first, second, third, waiting] = await someOf(stand, often);
  const exhausted = [first, second, third];
  await stand.rows(
    "update delivery_log.attempts set kind = 'exhausted', reason = 'reset' where delivery = any ($1::uuid[])",
    [exhausted],
  );
  await stand.rows('delete from delivery_log.attempts where delivery = $1', [waiting]);
  await stand.rows('analyze delivery_log.deliveries, delivery_log.attempts, waybell.subscriptions');
  return { account, exhausted, rare, waiting };
}

async function aCarrier({ store }: LogStand): Promise<string> {
  return (await createAccount(store.postgres, { interface: 'carrier' })).guid;
}

type Generated = { account: string; subscription: string; kind: 'delivered' | 'exhausted'; count: number };

async function generate(stand: LogStand, { account, subscription, kind, count }: Generated): Promise<string[]> {
  const stepMs = Math.floor(((DAYS - 1) * DAY_MS) / count);
  const rows = await stand.rows<{ delivery: string }>(
    `with made as (
       insert into delivery_log.deliveries
       select to_timestamp(($1::float8 - i * $2::float8) / 1000), gen_random_uuid(), gen_random_uuid(), 'carrier',
         s.action, s.guid, s.account_guid, 'default'
       from generate_series(1, $3::int) i, waybell.subscriptions s where s.guid = $4 and s.account_guid = $5
       returning *
     ), attempted as (
       insert into delivery_log.attempts (at, delivery, attempt, kind, subscription, http_status, duration_ms)
       select at + interval '20 ms', delivery, 1, $6, subscription, 200, 20 from made
     )
     select delivery from made order by at desc limit 10`,
    [START, stepMs, count, subscription, account, kind],
  );
  return rows.map(({ delivery }) => delivery);
}

/** Four of them, from different days. */
async function someOf(stand: LogStand, subscription: string): Promise<[string, string, string, string]> {
  const oneAt = async (days: number): Promise<string> => {
    const [row] = await stand.rows<{ delivery: string }>(
      'select delivery from delivery_log.deliveries where subscription = $1 and at < to_timestamp($2::float8 / 1000) order by at desc limit 1',
      [subscription, START - days * DAY_MS],
    );
    if (row === undefined) throw new Error(`no delivery older than ${days} days`);
    return row.delivery;
  };
  return [await oneAt(1), await oneAt(3), await oneAt(6), await oneAt(4)];
}
