import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { noteEndsIn } from './deactivate.ts';
import { noticesIn } from './notices.ts';
import { partOf } from '@waybell/delivery-log/tables';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { aCarrier } from '@waybell/delivery-log/testing/log-stand';
import type { DeliveryEnd } from '@waybell/line/outcomes';
import { connectPostgres } from '@waybell/runtime/postgres';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';

let account: string;

const store = shared(() => createTestDatabase());
const postgres = shared(() =>
  connectPostgres({ url: store.url, role: '', poolSize: 8, timeoutMs: 60_000, log: silentLog }),
);
beforeAll(async () => {
  account = await aCarrier(store.postgres, 'Example Freight');
  // One partition for all: no midnight matters.
  await store.postgres.query(`
    create table if not exists delivery_log.any_events partition of delivery_log.events default;
    create table if not exists delivery_log.any_attempts partition of delivery_log.attempts default`);
});

beforeEach(async () => {
  await store.postgres.query(
    `delete from waybell.subscriptions; delete from waybell.notices; delete from waybell.exhausted_deliveries;
     delete from waybell.late_endpoints; delete from waybell.due_deactivations; delete from waybell.deliverer_rooms;
     delete from waybell.deliverer_waiting`,
  );
});

const query = async (sql: string, values: unknown[] = []) => (await store.postgres.query(sql, values)).rows;

function aSubscription({ client = 'default', url = 'https://a.test/hook?key=secret' } = {}): Promise<string> {
  const guid = randomUUID();
  return subscribe(store.postgres, { guid, account, client, action: `a.${guid}`, callbackUrl: url });
}

/** Returns the notices that the deactivator would publish now, and marks them as published. */
async function told() {
  const notices = noticesIn(postgres, { claimMs: 30_000 });
  const claimed = await notices.claim();
  await notices.settle(claimed);
  return claimed;
}

const noteEnds = (ends: readonly Partial<DeliveryEnd>[]) =>
  noteEndsIn(postgres, { offOnExhausted: ['carrier'] })(
    ends.map((end) => ({
      delivery: randomUUID(),
      subscription: '',
      generation: 1,
      isDelivered: false,
      at: 1_700_000_000_000,
      ...(end.reason === undefined && { reason: 'http_5xx', status: 500 }),
      ...end,
    })),
  );
const judge = (many = 0) => query(`select waybell.switch_off('{carrier}', '{}', '1 day', '0 s', $1, 0)`, [many]);

async function switchedOff(): Promise<{ subscription: string; delivery: string }> {
  const [subscription, delivery] = [await aSubscription(), randomUUID()];
  await query(`update waybell.subscriptions set created_at = '2023-01-01' where guid = $1`, [subscription]);
  await noteEnds([{ subscription, delivery }]);
  await judge();
  return { subscription, delivery };
}

const AS_AN_API = 'is_active = true, generation = generation + 1, deactivated_at = null, deactivation_rule = null';
const kinds = (notices: readonly { kind: string }[]) => notices.map(({ kind }) => kind);

describe('of a subscription', () => {
  test('that a rule switches off it is told by what, since when, and by which delivery', async () => {
    const { subscription, delivery } = await switchedOff();
    const [failed, off] = await told();
    expect([failed?.kind, off?.kind]).toEqual(['delivery.exhausted', 'subscription.switched_off']);
    const [row] = await query('select failing_since, deactivated_at from waybell.subscriptions');
    expect(off).toEqual({
      guid: expect.any(String),
      kind: 'subscription.switched_off',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      interface: 'carrier',
      account_guid: account,
      account_name: 'Example Freight',
      client_id: 'default',
      action: `a.${subscription}`,
      subscription_guid: subscription,
      callback_url: 'https://a.test/hook',
      reason: 'exhausted',
      since: row.failing_since.toISOString(),
      delivery_guid: delivery,
      status: null,
      count: null,
      missed: { since: new Date(row.failing_since - 60_000).toISOString(), until: null, count: 0 },
      host: null,
      ends_at: null,
    });
    expect(await told()).toEqual([]);
  });

  test('that goes off as soon as it is there it is told of nothing missed before that', async () => {
    const subscription = await aSubscription();
    await noteEnds([{ subscription }]);
    await judge();
    const [, off] = await told();
    const [row] = await query('select created_at from waybell.subscriptions where guid = $1', [subscription]);
    expect(off?.missed?.since).toBe(row.created_at.toISOString());
  });

  test('that is switched on again it is told how long it was off, and how many it missed', async () => {
    const { subscription, delivery } = await switchedOff();
    await told();
    await query(`update waybell.subscriptions set deactivated_at = now() - interval '1 hour'`);
    const written = `carrier.a.${subscription}`;
    const event = (ago: string, subscriptions: string[] | null, guid = randomUUID()) =>
      query(
        `insert into delivery_log.events (part, at, event, account, action, keys, subscriptions, place)
         values ($1, now() - $2::interval, $3, $4, $5, '{}', $6, 0)`,
        [partOf(account, written), ago, guid, account, written, subscriptions],
      );
    for (const ago of ['59 minutes', '2 minutes']) await event(ago, null);
    await event('61 minutes', null);
    await event('10 minutes', [subscription]);
    const twice = randomUUID();
    await event('9 minutes', null, twice);
    await event('8 minutes', null, twice);
    const attempt = (guid: string, kind: string, ago: string) =>
      query(
        `insert into delivery_log.attempts (subscription, delivery, event, kind, attempt, at)
         values ($1, $2, $2, $3, 4, now() - $4::interval)`,
        [subscription, guid, kind, ago],
      );
    await attempt(delivery, 'exhausted', '60 minutes');
    await attempt(randomUUID(), 'exhausted', '3 hours');
    await query(
      `update waybell.subscriptions set ${AS_AN_API}, deactivated_by = null, missed_since = now() - interval '61 minutes', missed_until = now()`,
    );
    const [row] = await query('select missed_since, missed_until from waybell.subscriptions');
    expect(await told()).toMatchObject([
      {
        kind: 'subscription.switched_on',
        reason: 'switched_on',
        delivery_guid: delivery,
        missed: { since: row.missed_since.toISOString(), until: row.missed_until.toISOString(), count: 4 },
      },
    ]);
  });

  test.each([
    ['unsubscribed', ''],
    ['gone', `, ended_reason = 'gone'`],
  ])('that ends it is told that it is %s', async (reason, more) => {
    const subscription = await aSubscription();
    await query(`update waybell.subscriptions set is_active = false, ended_at = now()${more}`);
    expect(await told()).toMatchObject([{ kind: 'subscription.ended', subscription_guid: subscription, reason }]);
  });

  test('that is off when it ends it is told once', async () => {
    await switchedOff();
    await told();
    await query(
      'update waybell.subscriptions set ended_at = now(); update waybell.subscriptions set changed_at = now()',
    );
    expect(kinds(await told())).toEqual(['subscription.ended']);
  });

  test('that is held, as so many would go off, it is told once while it is; of one that had gone off, that it is back', async () => {
    const guids = await Promise.all(
      Array.from({ length: 8 }, (_, host) => aSubscription({ url: `https://h${host}.test/` })),
    );
    await noteEnds(guids.slice(0, 1).map((subscription) => ({ subscription })));
    await judge(4);
    await noteEnds(guids.slice(1).map((subscription) => ({ subscription })));
    await judge(4);
    await judge(4);
    const notices = (await told()).filter(({ kind }) => kind !== 'delivery.exhausted');
    expect(notices.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
      'subscription.switched_off exhausted',
      'subscription.switched_on held_back',
      ...Array(8).fill('subscription.held exhausted'),
    ]);
    expect(notices.find(({ kind }) => kind === 'subscription.switched_on')?.missed).toBeNull();
  });

  test('of a listener nothing is told', async () => {
    const subscription = await aSubscription({ client: listenerClient('default', '') });
    await noteEnds([{ subscription }]);
    await judge();
    await query(`update waybell.subscriptions set ${AS_AN_API}, deactivated_by = null`);
    await query('update waybell.subscriptions set ended_at = now(), is_active = false');
    expect(await query('select from waybell.notices')).toEqual([]);
  });

  test('that changes otherwise nothing is told', async () => {
    await aSubscription();
    await query(
      `update waybell.subscriptions set generation = 2, callback_url = 'https://b.test/', paused_until = now()`,
    );
    expect(await told()).toEqual([]);
  });
});

describe('of deliveries that fail for good', () => {
  const turnAnHour = () =>
    query(`update waybell.exhausted_deliveries set told_at = told_at - interval '1 hour'`).then(() =>
      query(`select waybell.tell_exhausted('1 hour')`),
    );

  test('the first is told at once, and those of an hour together at its end', async () => {
    const subscription = await aSubscription();
    const first = randomUUID();
    await noteEnds([{ subscription, delivery: first }]);
    expect(await told()).toMatchObject([
      {
        kind: 'delivery.exhausted',
        subscription_guid: subscription,
        count: 1,
        delivery_guid: first,
        reason: 'http_5xx',
        status: 500,
      },
    ]);
    const last = randomUUID();
    await noteEnds([
      { subscription, at: 1_700_000_001_000 },
      { subscription, at: 1_700_000_002_000 },
    ]);
    await noteEnds([
      { subscription, at: 1_700_000_009_000, delivery: last, reason: 'response_timeout' },
      { subscription, at: 1_700_000_003_000 },
    ]);
    await query(`select waybell.tell_exhausted('1 hour')`);
    expect(await told()).toEqual([]);
    await turnAnHour();
    expect(await told()).toMatchObject([
      { count: 4, delivery_guid: last, reason: 'response_timeout', status: null, since: '2023-11-14T22:13:21.000Z' },
    ]);
  });

  test('there is one an hour while it goes on, and the next is told at once after an hour without', async () => {
    const subscription = await aSubscription();
    await noteEnds([{ subscription }]);
    await noteEnds([{ subscription }]);
    await turnAnHour();
    await noteEnds([{ subscription }]);
    expect((await told()).map(({ count }) => count)).toEqual([1, 1]);
    await turnAnHour();
    expect((await told()).map(({ count }) => count)).toEqual([1]);
    await turnAnHour();
    expect(await told()).toEqual([]);
    await noteEnds([{ subscription }, { subscription }]);
    expect((await told()).map(({ count }) => count)).toEqual([2]);
  });

  test('those that do not count against it are told, and one that comes twice in a batch once', async () => {
    const subscription = await aSubscription();
    const twice = {
      subscription,
      delivery: randomUUID(),
      isUncounted: true as const,
      reason: 'expired' as const,
    };
    await noteEnds([twice, twice, { ...twice, delivery: randomUUID() }]);
    await judge();
    expect(await told()).toMatchObject([{ kind: 'delivery.exhausted', reason: 'expired', status: null, count: 2 }]);
    expect(await query('select is_active, last_failure_at from waybell.subscriptions')).toEqual([
      { is_active: true, last_failure_at: null },
    ]);
  });

  test('what several processes note at once is counted once each', async () => {
    const guids = await Promise.all(Array.from({ length: 5 }, () => aSubscription()));
    const batch = () =>
      noteEnds(guids.flatMap((subscription) => Array.from({ length: 20 }, () => ({ subscription }))).toReversed());
    await Promise.all(Array.from({ length: 8 }, batch));
    await turnAnHour();
    const counts = Map.groupBy(
      await query('select subscription, count from waybell.notices where kind = $1', ['delivery.exhausted']),
      (row) => row.subscription,
    );
    expect([...counts.values()].map((rows) => rows.reduce((sum, { count }) => sum + count, 0))).toEqual(
      Array(5).fill(160),
    );
  });
});

describe('of endpoints that deliveries wait for', () => {
  const look = () => query(`select waybell.tell_late_endpoints('5 minutes', '1 hour')`);

  async function waits(
    subscription: string,
    { ago = '6 minutes', why = 'hung', room }: { ago?: string; why?: string; room?: string } = {},
  ) {
    await query(
      `with of_it as (
         select s.guid, s.account_guid, coalesce($4::uuid, waybell.room_of(s.account_guid, s.callback_url)) as room
         from waybell.subscriptions s where s.guid = $1
       ), room as (
         insert into waybell.deliverer_rooms (room, account) select room, account_guid from of_it on conflict do nothing
       )
       insert into waybell.deliverer_waiting (room, made_at, id, subscription, put_at, why, properties)
       select room, 1, gen_random_uuid()::text, guid, now() - $2::interval, $3, '{}' from of_it`,
      [subscription, ago, why, room ?? null],
    );
  }

  const pass = (time: string) =>
    query(
      'update waybell.late_endpoints set told_at = told_at - $1::interval, counted_at = counted_at - $1::interval',
      [time],
    );

  test('one is told once when the first waits for five minutes, and again each hour', async () => {
    const subscription = await aSubscription();
    await waits(subscription, { ago: '4 minutes' });
    await look();
    expect(await told()).toEqual([]);
    await waits(subscription);
    await look();
    await look();
    expect(await told()).toMatchObject([
      {
        kind: 'endpoint.waiting',
        subscription_guid: subscription,
        action: `a.${subscription}`,
        callback_url: 'https://a.test/hook',
        reason: 'hung',
        count: 2,
      },
    ]);
    await pass('50 minutes');
    await look();
    expect(await told()).toEqual([]);
    await pass('11 minutes');
    await look();
    expect(await told()).toHaveLength(1);
  });

  test('is told again where it began to answer meanwhile', async () => {
    const subscription = await aSubscription();
    await waits(subscription);
    await look();
    await query('delete from waybell.deliverer_waiting');
    await look();
    await waits(subscription);
    await look();
    expect(await told()).toHaveLength(2);
  });

  test('each client of it is told of its own, also one that comes later, and listeners of none', async () => {
    const [one, other] = [await aSubscription({ client: 'one' }), await aSubscription({ client: 'one' })];
    for (const subscription of [one, one, other]) await waits(subscription);
    await waits(await aSubscription({ client: listenerClient('one', '') }));
    await look();
    expect(await told()).toMatchObject([{ client_id: 'one', action: null, subscription_guid: null, count: 3 }]);
    await waits(await aSubscription({ client: 'two' }));
    await pass('5 minutes');
    await look();
    expect(await told()).toMatchObject([{ client_id: 'two', count: 1 }]);
  });

  test.each([
    ['is paused', { why: 'paused' }],
    ['is stopped', { why: 'stopped' }],
    ['has its request under way', { why: 'open' }],
  ])('nothing is told of what %s', async (_, how) => {
    await waits(await aSubscription(), how);
    await look();
    expect(await told()).toEqual([]);
  });

  test('nothing is told of the room of a subscription', async () => {
    const subscription = await aSubscription();
    await waits(subscription, { room: subscription });
    await look();
    expect(await told()).toEqual([]);
  });

  test('is told once by several processes', async () => {
    for (let count = 0; count < 20; count += 1) await waits(await aSubscription({ url: `https://h${count}.test/` }));
    await Promise.all(Array.from({ length: 8 }, look));
    expect(await told()).toHaveLength(20);
  });
});

test('a notice is claimed by one process, and by another once that claim has run out', async () => {
  await switchedOff();
  const [one, other] = [noticesIn(postgres, { claimMs: 30_000 }), noticesIn(postgres, { claimMs: 30_000 })];
  const both = (await Promise.all([one.claim(), other.claim()])).flat();
  expect(both).toHaveLength(2);
  expect(await other.claim()).toEqual([]);
  await query(`update waybell.notices set claimed_until = now() - interval '1 second'`);
  expect(await other.claim()).toHaveLength(2);
});
