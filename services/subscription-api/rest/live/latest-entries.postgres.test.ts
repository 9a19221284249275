import { randomUUID } from 'node:crypto';
import { partOf } from '@waybell/delivery-log/tables';
import { latestOf } from './latest-entries.ts';
import { beforeAll, expect, test } from '@jest/globals';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { LiveStand, type Us } from '../../testing/live-stand.ts';
import { aDelivered, aFailed, anExhausted } from '@waybell/delivery-log/testing/log-stand';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const EARLIER = 5_000;

const stand = shared(() => LiveStand.start());
let us: Us;
beforeAll(async () => {
  us = await stand.someone();
});

/** Adds entries over ten minutes that ended a minute and a half ago. */
async function muchEarlier(): Promise<void> {
  const { account, subscription } = us;
  await stand.happens(us, [aFailed()]);
  const at = `now() - interval '100 seconds' - n * interval '100 milliseconds'`;
  for (const kind of ['failed', 'exhausted'])
    await stand.log.rows(
      `insert into delivery_log.attempts (at, delivery, attempt, kind, event, subscription)
       select ${at}, gen_random_uuid(), 1, '${kind}', gen_random_uuid(), $1 from generate_series(1, ${EARLIER}) n`,
      [subscription],
    );
  await stand.log.rows(
    `insert into delivery_log.events (at, event, part, account, action, keys, subscriptions, chunk, place)
     select ${at}, gen_random_uuid(), $3, $1, 'carrier.order.created', '{}', array[$2::uuid], n, 0
     from generate_series(1, ${EARLIER}) n`,
    [account, subscription, partOf(account, 'carrier.order.created')],
  );
  for (const table of ['attempts', 'events']) await stand.log.rows(`vacuum analyze delivery_log.${table}`);
}

test('a look reads by indexes what is new, however much there was before', async () => {
  await stand.log.partitions.ensure([stand.log.now - 86_400_000]);
  await muchEarlier();
  const since = wallClockMs() - 10_000;
  await stand.happens(us, [aDelivered()]);
  await stand.happens(us, [aFailed(), anExhausted({ attempt: 2 })]);
  const watched = watchPlans(stand.api.store.postgres);
  const reader = { account: us.account, client: us.client, interface: 'carrier' as const };
  const query = { reader, actions: ['order.created', randomUUID()], fromMs: since, isKnown: () => false };
  const [found] = await latestOf(watched, [query], 1_000);
  expect(found?.keys.length).toBeGreaterThanOrEqual(3);
  expect(watched.rowsLookedAt()).toBeLessThan(200);
});
