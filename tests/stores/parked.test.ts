import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeEndpoint, describeInAll } from '@waybell/cli/parked/describe-parked';
import { describeDelivery } from '@waybell/cli/why/describe-history';
import { forget } from '@waybell/delivery-log/forget';
import { deliveryHistory } from '@waybell/delivery-log/read/history';
import { parkedEndpoints, parkedInAll } from '@waybell/subscription-api/parked-endpoints';
import { aDelivered, aFailed, anExhausted, LogStand, START } from './log-stand.ts';
import { aDelivery, parkRow, subscribeTo } from './park-rows.ts';
import { watchPlans } from './watch-plans.ts';

let stand: LogStand;
beforeAll(async () => {
  stand = await LogStand.start();
});
afterAll(() => stand[Symbol.asyncDispose]());

const tables = () => stand.store.postgres;
const whatIsTold = (delivery: string) => deliveryHistory(tables(), { delivery }, 'operator');

/** A delivery in the log, with these attempts, that is parked. */
async function parkedDelivery(attempts: Parameters<LogStand['log']>[0] = []) {
  const account = randomUUID();
  const subscription = await subscribeTo(tables(), 'https://a.test/hook', account);
  const logged = await stand.log(attempts, { account, subscription });
  const delivery = aDelivery({ guid: logged.delivery, subscription, attempt: attempts.length + 1 });
  await parkRow(tables(), delivery);
  return { ...logged, parked: delivery };
}

describe('the history of a delivery', () => {
  test('says that it is parked, since when and why', async () => {
    const { delivery } = await parkedDelivery([aFailed()]);
    const entry = await whatIsTold(delivery);
    expect(entry).toMatchObject({ status: 'retrying', parked: { since: START + 5_000, why: 'hung' } });
    expect(entry && describeDelivery(entry, () => undefined)[0]).toMatch(
      /not delivered yet, after 1 attempt; .*; parked since 2026-11-20 09:30:05\.000: its endpoint does not answer$/,
    );
  });

  test('says so of one that was asked for by hand, which waits by the time when that was', async () => {
    const account = randomUUID();
    const subscription = await subscribeTo(tables(), 'https://a.test/hook', account);
    const { delivery, event } = await stand.log([anExhausted()], { account, subscription });
    const dueAt = START + 60_000;
    await stand.rows(
      `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
         generation, from_attempt, requested_by, due_at, published_at)
       values ($1, 'resend', $2, $3, 'carrier', 'order.created', $4, 'default', $5, 1, 2, 'me', to_timestamp($6::float8 / 1000), now())`,
      [randomUUID(), delivery, event, account, subscription, dueAt],
    );
    await parkRow(tables(), aDelivery({ guid: delivery, subscription, createdAt: dueAt, attempt: 2 }), { why: 'full' });
    expect(await whatIsTold(delivery)).toMatchObject({ parked: { since: dueAt + 5_000, why: 'full' } });
  });

  test('says nothing of the kind of one that is not, or that was delivered after all', async () => {
    const { delivery } = await stand.logLately([]);
    expect(await whatIsTold(delivery)).not.toHaveProperty('parked');
    // The row is about to be deleted.
    const arrived = await parkedDelivery([aDelivered()]);
    expect(await whatIsTold(arrived.delivery)).not.toHaveProperty('parked');
  });

  test('is found by a look at a few rows, though tens of thousands are parked for the same subscription', async () => {
    const { delivery, event, subscription } = await parkedDelivery();
    await stand.rows(
      `insert into waybell.parked (subscription, created_at, delivery, attempt, hop, why, action, note, body)
       select $1, $2::bigint + n / 100, gen_random_uuid()::text, 1, 1, 'hung', 'carrier.order.created', '', '' from generate_series(1, 50000) n`,
      [subscription, START - 250],
    );
    await stand.rows('analyze waybell.parked');
    const plans = watchPlans(tables());
    expect(await deliveryHistory(plans, { delivery, event }, 'operator')).toHaveProperty('parked');
    expect(plans.rowsLookedAt()).toBeLessThan(200);
    await stand.rows('delete from waybell.parked where subscription = $1', [subscription]);
  });
});

describe('the endpoints that deliveries wait for', () => {
  test('are told with what waits for them: each once, however many subscriptions lead there, and without its query', async () => {
    const account = randomUUID();
    const first = await subscribeTo(tables(), 'https://a.test:8443/hook?key=secret', account);
    const second = await subscribeTo(tables(), 'https://a.test:8443/hook?key=other', account);
    const elsewhere = await subscribeTo(tables(), 'https://a.test:8443/other', account);
    await parkRow(tables(), aDelivery({ subscription: first, createdAt: START + 2 }));
    await parkRow(tables(), aDelivery({ subscription: first, createdAt: START + 3 }));
    await parkRow(tables(), aDelivery({ subscription: second, createdAt: START + 1 }), { why: 'full' });
    await parkRow(tables(), aDelivery({ subscription: elsewhere }), { why: 'full' });
    const found = await parkedEndpoints(tables(), { account, limit: 10 });
    expect(found).toEqual([
      expect.objectContaining({ url: 'https://a.test:8443/other', deliveries: 1, isHung: false, oldestAt: START }),
      {
        account,
        url: 'https://a.test:8443/hook',
        subscriptions: [first, second].toSorted(),
        deliveries: 3,
        bytes: 57,
        oldestAt: START + 1,
        isHung: true,
        isOwned: false,
      },
    ]);
    expect(found.map((endpoint) => describeEndpoint(endpoint, () => 'Acme'))[1]).toBe(
      `account ${account} (Acme)  https://a.test:8443/hook  3 deliveries, 57 bytes, oldest since 2026-11-20T09:30:00.001Z  hung  ` +
        `no deliverer takes care of it  subscriptions ${[first, second].toSorted().join(', ')}`,
    );
    expect(await parkedEndpoints(tables(), { account, limit: 1 })).toEqual(found.slice(0, 1));
  });

  test('have an owner while a deliverer holds its lease', async () => {
    const account = randomUUID();
    await parkRow(tables(), aDelivery({ subscription: await subscribeTo(tables(), 'https://a.test/owned', account) }));
    const lease = (until: string) =>
      stand.rows(`update waybell.parked_shards set owner = gen_random_uuid(), leased_until = ${until}`);
    await lease(`now() + interval '20 s'`);
    expect(await parkedEndpoints(tables(), { account, limit: 1 })).toMatchObject([{ isOwned: true }]);
    await lease(`now() - interval '1 s'`);
    expect(await parkedEndpoints(tables(), { account, limit: 1 })).toMatchObject([{ isOwned: false }]);
  });

  test('are summed up in one line', async () => {
    await stand.rows('truncate waybell.parked, waybell.parked_heads, waybell.parked_sums');
    expect(describeInAll(await parkedInAll(tables()))).toBe('0 deliveries, 0 bytes, 0 endpoints');
    const account = randomUUID();
    for (const url of ['https://a.test/1?a=b', 'https://a.test/1', 'https://a.test/2'])
      await parkRow(tables(), aDelivery({ subscription: await subscribeTo(tables(), url, account) }));
    expect(describeInAll(await parkedInAll(tables()))).toBe(
      '3 deliveries, 57 bytes, 2 endpoints, oldest since 2026-11-20T09:30:00.000Z',
    );
  });
});

describe('forget', () => {
  test('deletes what is parked about a subject, and has its owner look at it; what else is parked stays', async () => {
    const [gone, kept] = [await parkedDelivery(), await parkedDelivery()];
    expect(await forget(tables(), { key: gone.subject })).toMatchObject({ events: 1, parked: 1 });
    const rowsOf = (subscription: string) =>
      stand.rows<{ body: Buffer | null; is_due: boolean }>(
        `select body, look_at <= now() as is_due from waybell.parked join waybell.parked_heads using (subscription)
         where subscription = $1`,
        [subscription],
      );
    const [left] = await rowsOf(gone.subscription);
    expect(left).toMatchObject({ body: null, is_due: true });
    expect(await rowsOf(kept.subscription)).toMatchObject([{ body: kept.parked.body, is_due: false }]);
  });
});
