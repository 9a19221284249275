import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { endpointKey } from '@waybell/deliverer/endpoints/endpoint';
import { parkInPostgres, PARKING_SETTINGS } from '@waybell/deliverer/parking/postgres-parking';
import { takeIn } from '@waybell/deliverer/parking/take-parked';
import { shardOf } from '@waybell/deliverer/parking/shard-of';
import { connectPostgres } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import { silentLog } from '@waybell/subscription-api/testing/database';
import { ALL_SHARDS, aRow, PostgresStand } from './parking-stand.ts';
import { watchPlans } from './watch-plans.ts';

let stand: PostgresStand;
beforeAll(async () => {
  stand = await PostgresStand.start(8);
});
afterAll(async () => {
  await stand[Symbol.asyncDispose]();
});

const dueOf = async (subscription: string) =>
  (await stand.store.dueHeads(ALL_SHARDS)).find((head) => head.subscription === subscription);

describe('what Postgres and the deliverer both make', () => {
  test('of an account and a URL is the same endpoint', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uuid(), fc.webUrl({ withQueryParameters: true }), async (account, callbackUrl) => {
        const [row] = await stand.sql(`select encode(waybell.endpoint_of($1, $2), 'hex') as endpoint`, [
          account,
          callbackUrl,
        ]);
        expect(row).toEqual({ endpoint: endpointKey({ account, callbackUrl }).endpoint });
      }),
    );
  });

  test('of an account is the same shard', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uuid(), async (account) => {
        expect(await stand.sql('select waybell.shard_of($1) as shard', [account])).toEqual([
          { shard: shardOf(account) },
        ]);
      }),
    );
  });
});

describe('the deliverers that a deliverer counts', () => {
  test('are those that take some of its actions, or do not say which', async () => {
    const seenBy = async (...actions: string[]) =>
      (await stand.storeOf(actions).lease(randomUUID(), new Set())).deliverers;
    expect(await seenBy('shipper.a', 'shipper.b')).toBe(1);
    expect(await seenBy('carrier.a')).toBe(1);
    expect(await seenBy('shipper.b', 'shipper.c')).toBe(2);
    expect(await seenBy('shipper.b', 'carrier.a')).toBe(4);
    // As a deliverer of a version that does not know of it.
    await stand.sql('insert into waybell.parked_owners (owner, seen_at) values ($1, now())', [randomUUID()]);
    expect(await seenBy('carrier.b')).toBe(2);
    await stand.sql('delete from waybell.parked_owners');
  });
});

describe('a parked row', () => {
  test('is put in whether or not heads are deleted at the same moment, and is never without one', async () => {
    const subscribed = await Promise.all(Array.from({ length: 4 }, () => stand.subscribe()));
    const subscriptions = subscribed.map(({ subscription }) => subscription);
    const full = await manyFullHeads();
    let [isOver, made, gone] = [false, 0, 0];
    const clean = async (heads: readonly string[]) => {
      while (!isOver) gone += (await stand.store.removeEmpty(heads)).length;
    };
    const park = async (parker: number) => {
      // Each is parked for by two.
      const parked = subscribed.filter((_, index) => index === parker || index === (parker + 1) % 4);
      for (let round = 0; round < 100 || gone < 50; round += 1) {
        const rows = parked.map((one) => aRow(one, `${parker} ${round}`, { createdAt: made++ }));
        await stand.store.insert(round % 2 === 0 ? rows : rows.toReversed());
        expect(await stand.store.has(rows)).toEqual(rows.map(() => true));
        await stand.store.remove(rows);
      }
    };
    const headless = `select from waybell.parked p where not exists (
      select from waybell.parked_heads h where h.subscription = p.subscription)`;
    const watch = async () => {
      while (!isOver) expect(await stand.sql(headless)).toEqual([]);
    };
    const beside = [clean(subscriptions), clean([...subscriptions, ...full]), watch()];
    await Promise.all([0, 1, 2, 3].map(park)).finally(() => (isOver = true));
    await Promise.all(beside);
  });

  test('is kept once by all that park it at once, in whatever order', async () => {
    const subscribed = await Promise.all(Array.from({ length: 5 }, () => stand.subscribe()));
    for (let round = 0; round < 30; round += 1) {
      const rows = subscribed.flatMap((one) => ['a', 'b', 'c'].map((name) => aRow(one, `${name} ${round}`)));
      const orders = [rows, rows.toReversed(), rows.toSorted(() => 0.5 - Math.random()), rows.slice(7)];
      await Promise.all(orders.map((each) => stand.store.insert(each)));
    }
    const subscriptions = subscribed.map(({ subscription }) => subscription);
    expect(
      await stand.sql('select count(*)::int as count from waybell.parked where subscription = any ($1)', [
        subscriptions,
      ]),
    ).toEqual([{ count: 5 * 3 * 30 }]);
  });

  test('survives a crash of Postgres, whatever the default of the database is', async () => {
    await stand.sql(`alter database ${stand.database.name} set synchronous_commit = off`);
    await using postgres = connectPostgres({
      url: stand.database.url,
      role: 'waybell_deliverer',
      poolSize: 1,
      timeoutMs: 60_000,
      settings: PARKING_SETTINGS,
      log: silentLog,
    });
    const { rows } = await postgres.query('show synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  test('without a head gets one when its shard is counted anew', async () => {
    const one = await stand.subscribe();
    await stand.store.insert([aRow(one, 'a')]);
    await stand.sql('delete from waybell.parked_heads where subscription = $1', [one.subscription]);
    await stand.store.recount(ALL_SHARDS.filter((shard) => shard !== shardOf(one.account)));
    expect(await dueOf(one.subscription)).toBeUndefined();
    await stand.store.recount([shardOf(one.account)]);
    expect(await dueOf(one.subscription)).toMatchObject({ account: one.account });
    expect((await stand.store.sums([shardOf(one.account)])).own).toContainEqual(
      expect.objectContaining({ account: one.account, rows: 1 }),
    );
  });
});

/** So many that between a look at them and the locks that follow there is time to park. */
async function manyFullHeads(): Promise<string[]> {
  const rows = await stand.sql<{ subscription: string }>(`
    with head as (
      insert into waybell.parked_heads (subscription, account, shard)
      select gen_random_uuid(), gen_random_uuid(), 0 from generate_series(1, 2000) returning subscription
    )
    insert into waybell.parked (subscription, created_at, delivery, attempt, hop, why, action, note)
    select subscription, 0, 'a', 1, 1, 'full', 'shipper.insurance.issued', '' from head returning subscription`);
  return rows.map(({ subscription }) => subscription);
}

describe('taking', () => {
  test('looks at no more rows than it takes, however many are parked, and wherever it goes on', async () => {
    const one = await stand.subscribe();
    const rows = Array.from({ length: 5_000 }, (_, at) => aRow(one, `${at}`, { createdAt: at }));
    await stand.store.insert(rows);
    for (const after of [undefined, rows[2_500]]) {
      const plans = watchPlans(stand.postgres);
      const store = takeIn(async (statement, values) => (await plans.query({ ...statement, values })).rows);
      const wanted = { endpoint: 'e', after: new Map([[one.subscription, after]]), limit: 64 };
      const [taken] = await store.take([wanted]);
      expect(taken?.rows).toHaveLength(64);
      // Each is found, counted and read: the one subscription, then three times 64.
      expect(plans.rowsLookedAt()).toBeLessThan(5 * 64);
    }
  });
});

describe('a head', () => {
  test.each([
    ['a changed URL', `update waybell.subscriptions set callback_url = 'https://new.test' where guid = $1`],
    ['an unsubscribe', 'update waybell.subscriptions set ended_at = now(), is_active = false where guid = $1'],
    ['a subscribe', 'update waybell.subscriptions set generation = generation + 1 where guid = $1'],
    [
      'a deactivation',
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window' where guid = $1`,
    ],
    [
      'a feature that is switched on or off',
      `update waybell.accounts set features = '{insurance}'
       where guid = (select account_guid from waybell.subscriptions where guid = $1)`,
    ],
  ])('is made due by %s', async (_, change) => {
    const one = await stand.subscribe();
    await stand.store.insert([aRow(one, 'a')]);
    expect(await dueOf(one.subscription)).toBeDefined();
    await stand.sql('update waybell.subscriptions set last_success_at = now() where guid = $1', [one.subscription]);
    expect(await dueOf(one.subscription)).toBeUndefined();
    await stand.sql(change, [one.subscription]);
    expect(await dueOf(one.subscription)).toBeDefined();
  });

  test('says to those that look up the target whether its endpoint hangs, while there is one', async () => {
    const one = await stand.subscribe();
    const row = aRow(one, 'a');
    const isHung = async () => {
      const text = 'select is_hung from waybell.delivery_targets where subscription_guid = $1';
      return (await stand.postgres.query<{ is_hung: boolean }>(text, [one.subscription])).rows[0]?.is_hung;
    };
    expect(await isHung()).toBe(false);
    await stand.store.insert([row]);
    await stand.store.markHung([one.subscription, randomUUID()], true);
    expect(await isHung()).toBe(true);
    await stand.store.markHung([one.subscription], false);
    expect(await isHung()).toBe(false);
    await stand.store.markHung([one.subscription], true);
    await stand.store.remove([row]);
    await stand.store.removeEmpty([one.subscription]);
    expect(await isHung()).toBe(false);
  });
});

test('everything says that Postgres is away where it is', async () => {
  await using postgres = connectPostgres({
    url: 'postgres://127.0.0.1:1/none',
    role: '',
    poolSize: 1,
    timeoutMs: 60_000,
    log: silentLog,
  });
  const store = parkInPostgres(postgres, []);
  const one = aRow({ subscription: randomUUID(), account: '', callbackUrl: '' }, 'a');
  const asked: Promise<unknown>[] = [
    store.insert([one]),
    store.has([one]),
    store.remove([one]),
    store.lease(randomUUID(), new Set()),
    store.release(randomUUID()),
    store.heads([1]),
    store.dueHeads([1]),
    store.wake(one.subscription),
    store.take([{ endpoint: 'e', after: new Map([[one.subscription, undefined]]), limit: 1 }]),
    store.oldest([one.subscription]),
    store.removeEmpty([one.subscription]),
    store.markHung([one.subscription], true),
    store.addToSums([{ account: randomUUID(), rows: 1, bytes: 1 }]),
    store.sums([1]),
    store.recount([1]),
    store.newestWithin([one.subscription], { rows: 1, bytes: 1 }),
  ];
  for (const each of asked) await expect(each).rejects.toThrow(Unavailable);
});
