import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { partOf } from '@waybell/delivery-log/tables';
import { createAccount } from './accounts.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';

const store = shared(() => createTestDatabase());
let carrier: string;
let shipper: string;

beforeAll(async () => {
  carrier = (await createAccount(store.postgres, { interface: 'carrier' })).guid;
  shipper = (await createAccount(store.postgres, { interface: 'shipper' })).guid;
});

beforeEach(async () => {
  // One partition for all: no midnight matters.
  await store.postgres.query('create table if not exists delivery_log.any partition of delivery_log.events default');
  await store.postgres.query(
    'delete from waybell.subscriptions; delete from waybell.deactivations; delete from waybell.due_deactivations; delete from delivery_log.events',
  );
});

const query = async (sql: string, values: unknown[] = []) => (await store.postgres.query(sql, values)).rows;

type Given = { host?: string; url?: string; interface?: 'shipper'; client?: string };

function aSubscription({ host, url, ...given }: Given = {}): Promise<string> {
  const guid = randomUUID();
  const account = given.interface === 'shipper' ? shipper : carrier;
  const callbackUrl = url ?? `https://${host ?? `${guid}.test`}/hook`;
  return subscribe(store.postgres, { guid, account, action: `a.${guid}`, callbackUrl, ...given });
}

const several = (count: number, given?: (index: number) => Given) =>
  Promise.all(Array.from({ length: count }, (_, index) => aSubscription(given?.(index))));

/** Each has a delivery end, seconds after now. */
async function end(guids: readonly string[], { delivered = false, ended = 0 } = {}): Promise<void> {
  await query(
    `select waybell.note_ends(array_agg(guid), array_agg(1), array_agg(gen_random_uuid()), array_agg($2::boolean),
       array_agg(now() + make_interval(secs => $3)), '{carrier}') from unnest($1::uuid[]) guid`,
    [guids, delivered, ended],
  );
}

/** Applies the rules; returns how many were switched off, and how many are held. */
async function judge({ many = 20, few = 4, gather = '0 s' } = {}): Promise<{ off: number; held: number }> {
  const [judged] = await query(`select * from waybell.switch_off('{carrier}', '{}', '1 day', $3::interval, $1, $2)`, [
    many,
    few,
    gather,
  ]);
  return judged;
}

const NONE = { off: 0, held: 0 };

async function fail(guids: readonly string[], limits = {}) {
  await end(guids);
  return judge(limits);
}

async function areOn(guids: readonly string[]): Promise<boolean> {
  const rows = await query('select is_active from waybell.subscriptions where guid = any ($1)', [guids]);
  return rows.every((row) => row.is_active);
}

/** Moves all times into the past. */
async function pass(seconds: number): Promise<void> {
  await query(
    `update waybell.due_deactivations set due_at = due_at - make_interval(secs => $1), held_at = held_at - make_interval(secs => $1),
       surge_at = surge_at - make_interval(secs => $1)`,
    [seconds],
  );
  await query('update waybell.subscriptions set deactivated_at = deactivated_at - make_interval(secs => $1)', [
    seconds,
  ]);
}

describe('more than half of those that had deliveries, each of another host', () => {
  test('are held where they would go off at once', async () => {
    const guids = await several(8);
    expect(await fail(guids)).toEqual({ off: 0, held: 8 });
    expect(await areOn(guids)).toBe(true);
    expect(await query('select from waybell.deactivations')).toEqual([]);
  });

  test('are held where they would go off one after the other: those that did are on again, and that they went off is not told', async () => {
    const guids = await several(5);
    for (const guid of guids.slice(0, 3)) expect(await fail([guid])).toEqual({ off: 1, held: 0 });
    await pass(50);
    expect(await fail(guids.slice(3, 4))).toEqual({ off: 0, held: 4 });
    expect(await areOn(guids)).toBe(true);
    expect(await query('select from waybell.deactivations')).toEqual([]);
  });

  test('go off where more than a minute lies between them', async () => {
    const guids = await several(5);
    for (const guid of guids.slice(0, 3)) await fail([guid]);
    await pass(61);
    expect(await fail(guids.slice(3, 4))).toEqual({ off: 1, held: 0 });
  });

  test('go off where they are three, or of three hosts, however these are written', async () => {
    expect(await fail(await several(3))).toEqual({ off: 3, held: 0 });
    await pass(61);
    const urls = [
      'http://a.test/1',
      'https://a.test:8443/2',
      'https://[2a00::1]/',
      'https://[2a00::1]:444/x',
      'https://b.test?x',
    ];
    expect(await fail(await several(5, (index) => ({ url: urls[index] ?? '' })))).toEqual({ off: 5, held: 0 });
  });

  test('go off where as many others succeed, or have had deliveries of which nothing is noted, and not where those were earlier', async () => {
    const [failing, others] = [await several(4), await several(4)];
    await end(others.slice(0, 2), { delivered: true });
    const had = (at: string) =>
      query(
        `insert into delivery_log.events (at, event, part, account, action, keys, subscriptions)
         select now() - $2::interval, gen_random_uuid(), part, $3, 'carrier.a.' || guid, '{}', array[guid]
         from unnest($1::uuid[], $4::bigint[]) had (guid, part)`,
        [others.slice(2), at, carrier, others.slice(2).map((guid) => partOf(carrier, `carrier.a.${guid}`))],
      );
    await had('6 minutes');
    await end(failing);
    expect(await judge()).toEqual({ off: 0, held: 4 });
    await query('update waybell.due_deactivations set held_at = null, surge_at = null');
    await had('4 minutes');
    expect(await judge()).toEqual({ off: 4, held: 0 });
  });

  test('are not more than half for shippers, to whom no rule applies', async () => {
    const shippers = await several(10, () => ({ interface: 'shipper' }));
    await end(shippers, { delivered: true });
    expect(await fail(await several(4))).toEqual({ off: 0, held: 4 });
  });

  test('are not more than half for listeners, however many succeed or fail', async () => {
    const listeners = await several(10, () => ({ client: 'default listen' }));
    await end(listeners.slice(0, 5), { delivered: true });
    expect(await fail(listeners.slice(5))).toEqual(NONE);
    expect(await fail(await several(4))).toEqual({ off: 0, held: 4 });
  });

  test('go off where that limit is 0', async () => {
    expect(await fail(await several(8), { few: 0 })).toEqual({ off: 8, held: 0 });
  });
});

describe('more than a tenth of those that had deliveries', () => {
  const some = (count: number, hosts: number) => several(count, (index) => ({ host: `${index % hosts}.test` }));

  test.each([
    [20, 5, 179, { off: 0, held: 20 }],
    [20, 5, 180, { off: 20, held: 0 }],
    [20, 4, 100, { off: 20, held: 0 }],
    [19, 5, 100, { off: 19, held: 0 }],
  ])('%i of them, at %i hosts, beside %i others: %j', async (count, hosts, others, expected) => {
    await end(await several(others), { delivered: true });
    expect(await fail(await some(count, hosts))).toEqual(expected);
  });

  test('go off where that limit is 0', async () => {
    await end(await several(100), { delivered: true });
    expect(await fail(await some(20, 5), { many: 0 })).toEqual({ off: 20, held: 0 });
  });
});

describe('what is due', () => {
  test('waits so long for others', async () => {
    const [one] = await several(1);
    expect(await fail([one ?? ''], { gather: '2 s' })).toEqual(NONE);
    await pass(2);
    expect(await judge({ gather: '2 s' })).toEqual({ off: 1, held: 0 });
  });

  test('goes off whatever succeeds meanwhile, and not where it ended or was subscribed again', async () => {
    const guids = await several(3);
    await end(guids);
    await end(guids, { delivered: true, ended: 1 });
    await query('update waybell.subscriptions set generation = 2 where guid = $1', [guids[0]]);
    await query('update waybell.subscriptions set is_active = false, ended_at = now() where guid = $1', [guids[1]]);
    expect(await judge()).toEqual({ off: 1, held: 0 });
    expect(await query('select from waybell.due_deactivations')).toEqual([]);
  });
});

describe('what is held', () => {
  let guids: string[];

  beforeEach(async () => {
    guids = await several(8);
    await fail(guids);
  });

  test('stays held, whatever comes again', async () => {
    await pass(100);
    expect(await judge()).toEqual({ off: 0, held: 8 });
  });

  test('goes off when a delivery fails after the surge, and is let off when one succeeds', async () => {
    await pass(100);
    await end(guids.slice(0, 2), { ended: 1 });
    await end(guids.slice(2, 5), { delivered: true, ended: 1 });
    expect(await judge()).toEqual({ off: 2, held: 3 });
    expect(await areOn(guids.slice(2))).toBe(true);
    expect(await judge()).toEqual({ off: 0, held: 3 });
  });

  test('is held again where as many fail again', async () => {
    await pass(100);
    await end(guids.slice(0, 5), { ended: 1 });
    expect(await judge()).toEqual({ off: 0, held: 8 });
  });

  test('is let off by what succeeds within the surge, and not by what succeeded before', async () => {
    await end(guids.slice(0, 1), { delivered: true, ended: 1 });
    await end(guids.slice(1, 2), { delivered: true, ended: -10 });
    expect(await judge()).toEqual({ off: 0, held: 7 });
  });

  test('goes off at once, and alone, where an operator says so', async () => {
    await query('update waybell.due_deactivations set is_released = true, due_at = now() where subscription = $1', [
      guids[0],
    ]);
    expect(await judge()).toEqual({ off: 1, held: 7 });
    expect(await fail(guids.slice(1, 3))).toEqual({ off: 0, held: 7 });
    expect(await areOn(guids.slice(1))).toBe(true);
    expect(await areOn(guids.slice(0, 1))).toBe(false);
    expect(await query('select subscription, rule from waybell.deactivations')).toEqual([
      { subscription: guids[0], rule: 'exhausted' },
    ]);
  });
});

test('many that judge and settle at once end the same, each off once', async () => {
  const guids = await several(30, () => ({ host: 'one.test' }));
  const settling = Array.from({ length: 8 }, () => fail(guids.toSorted(() => Math.random() - 0.5)));
  const judged = await Promise.all(settling);
  expect(judged.reduce((sum, { off }) => sum + off, (await judge()).off)).toBe(30);
});
