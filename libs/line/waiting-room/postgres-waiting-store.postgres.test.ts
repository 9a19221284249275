import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitingIn, WAITING_SETTINGS } from './postgres-waiting-store.ts';
import type { WaitingStore } from './waiting-store.ts';
import { Unavailable } from '@waybell/runtime/unavailable';
import { shared } from '@waybell/runtime/testing/shared';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { ALL, aPlace, aRow, PostgresStand, takeFrom, type Place } from './testing/waiting-stand.ts';

const stand = shared(() => PostgresStand.start(12));
let store: WaitingStore;
beforeEach(() => {
  store = stand.store();
});
afterEach(async () => {
  await stand.empty();
});

const roomCount = async () => (await stand.sql('select from waybell.deliverer_rooms')).length;

describe('sums', () => {
  const ofAll = async () => (await store.sumsBeyond({ ofAccount: { rows: 0, bytes: 0 }, allBytes: 0 })).all;
  const counted = async () => {
    const [sum] = await stand.sql(`select count(*)::float8 as rows,
      coalesce(sum(octet_length(body) + octet_length(properties)), 0)::float8 as bytes from waybell.deliverer_waiting`);
    return sum;
  };

  test('agree with what is there, however many put the same at once, and whoever settles it', async () => {
    const place = aPlace();
    const rows = ['a', 'b', 'c'].map((name) => aRow(place, name));
    const stores = [stand.store(), stand.store(), stand.store()];
    await Promise.all(stores.map((each) => each.put(rows)));
    const [mine, other, third] = stores;
    // The first's claim is lost, and it settles what it had all the same.
    await mine?.claim(ALL);
    const [taken] = await takeFrom(store, place.room);
    await stand.later(60_000);
    await other?.claim(ALL);
    for (const each of [mine, other, third]) await each?.settle(taken === undefined ? [] : [taken]);
    for (const each of stores) await each.flushSums();
    expect(await ofAll()).toEqual(await counted());
    expect(await counted()).toMatchObject({ rows: 2 });
  });

  test('are stored by the next that can, where Postgres was away', async () => {
    await store.put([aRow(aPlace(), 'a')]);
    await stand.sql('alter table waybell.deliverer_waiting_sums rename to elsewhere');
    await expect(store.flushSums()).rejects.toThrow(Unavailable);
    await stand.sql('alter table waybell.elsewhere rename to deliverer_waiting_sums');
    await store.flushSums();
    expect(await ofAll()).toEqual(await counted());
  });

  test('that are wrong are recounted where nothing is to end', async () => {
    const place = aPlace();
    await store.put([aRow(place, 'a')]);
    await stand.sql('insert into waybell.deliverer_waiting_sums (holder, rows, bytes) values ($1, 500, 500)', [
      place.account,
    ]);
    expect(await store.endBeyond(place.account, { rows: 100, bytes: 2 ** 20 })).toBe(false);
    expect(await ofAll()).toEqual(await counted());
  });

  test('of whom nothing waits any more are dropped, unless they change', async () => {
    const [place, gone, changing] = [aPlace(), randomUUID(), randomUUID()];
    await store.put([aRow(place, 'a')]);
    await store.flushSums();
    await stand.sql('insert into waybell.deliverer_waiting_sums (holder, rows, bytes) values ($1, 3, 7), ($2, 1, 1)', [
      gone,
      changing,
    ]);
    const minute = async () => {
      for (let second = 0; second < 60; second += 1) await store.flushSums();
    };
    await minute();
    await stand.sql('update waybell.deliverer_waiting_sums set rows = 2 where holder = $1', [changing]);
    await minute();
    const left = await stand.sql<{ holder: string }>(
      'select holder from waybell.deliverer_waiting_sums where name is null',
    );
    expect(left.map(({ holder }) => holder).toSorted()).toEqual([place.account, changing].toSorted());
  });

  test('are looked into by one process at a time', async () => {
    const place = aPlace();
    await store.put([aRow(place, 'a'), aRow(place, 'b', { madeAt: 2_000 })]);
    const looking = await stand.inOpenTransaction((_store, client) =>
      client.query(`select pg_advisory_xact_lock(hashtext('waybell.deliverer_waiting'), hashtext($1))`, [
        place.account,
      ]),
    );
    expect(await store.endBeyond(place.account, { rows: 1, bytes: 2 ** 20 })).toBe(true);
    expect(await store.claim(ALL)).not.toMatchObject([{ overBefore: 2_000 }]);
    await looking.commit();
    expect(await store.endBeyond(place.account, { rows: 1, bytes: 2 ** 20 })).toBe(true);
    expect(await store.claim(ALL)).toMatchObject([{ overBefore: 2_000 }]);
  });
});

describe('a room', () => {
  /** A subscription at a URL of its own, and the room of its endpoint with a row, released until later. */
  async function subscribed(): Promise<Place> {
    const place = aPlace();
    const callbackUrl = `https://${place.subscription}.test/hook?key=1`;
    const [made] = await stand.sql<{ room: string }>(
      `select encode(uuid_send(waybell.room_of($1, $2)), 'hex') as room`,
      [place.account, callbackUrl],
    );
    place.room = made?.room ?? '';
    const { account, subscription: guid } = place;
    await subscribe(stand.database.postgres, { guid, account, interface: 'shipper', callbackUrl });
    await store.put([aRow(place, 'a')]);
    await store.claim(ALL);
    await store.release([{ room: place.room, afterMs: 3_600_000, shutForMs: 1 }]);
    return place;
  }

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
  ])('is looked through after %s', async (_, change) => {
    const [place, other] = [await subscribed(), await subscribed()];
    await stand.sql('update waybell.subscriptions set last_success_at = now() where guid = $1', [place.subscription]);
    const none = { ...ALL, open: 0, shut: 0 };
    expect(await store.claim(none)).toEqual([]);
    await stand.sql(change, [place.subscription]);
    expect(await stand.room(place.room)).toMatchObject({ changes: 1, isDue: true });
    expect(await stand.room(other.room)).toMatchObject({ changes: 0, isDue: false });
    expect(await store.claim(none)).toMatchObject([{ room: place.room, changes: 1 }]);
    // Another one while it is claimed leaves the claim as long as it is.
    await stand.sql('update waybell.subscriptions set generation = generation + 9');
    expect(await stand.room(place.room)).toMatchObject({ isDue: false });
    expect(await stand.store().claim({ kind: 'named', rooms: [place.room] })).toEqual([]);
  });

  test('is found though a transaction has been open since before there were any', async () => {
    const old = await stand.inOpenTransaction((_store, client) =>
      client.query('set transaction isolation level repeatable read; select from waybell.deliverer_waiting'),
    );
    const place = aPlace();
    for (let round = 0; round < 20; round += 1) {
      await store.put([aRow(place, `${round}`, { madeAt: round })]);
      expect(await store.claim(ALL)).toHaveLength(1);
      await store.settle(await takeFrom(store, place.room));
      expect(await store.release([{ room: place.room }])).toEqual([place.room]);
    }
    expect(await roomCount()).toBe(0);
    await old.commit();
  });
});

test('what is put survives a crash of Postgres, whatever the default of the database is', async () => {
  await stand.sql(`alter database ${stand.database.name} set synchronous_commit = off`);
  await using postgres = stand.connect(1, 'waybell_deliverer', WAITING_SETTINGS);
  expect((await postgres.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
});

describe('everything says that Postgres is away', () => {
  const place = aPlace();
  const key = { ...aRow(place, 'a'), no: 0 };
  const every = (from: WaitingStore): [keyof WaitingStore, () => Promise<unknown>][] => [
    ['put', () => from.put([aRow(place, 'a')])],
    ['retain', () => from.retain([key])],
    ['claim', () => from.claim(ALL)],
    ['claim', () => from.claim({ kind: 'named', rooms: [place.room] })],
    ['renew', () => from.renew([{ room: place.room, lives: true }])],
    ['take', () => from.take([{ room: place.room, limit: 1 }])],
    ['settle', () => from.settle([key])],
    ['postpone', () => from.postpone([key], 1)],
    ['release', () => from.release([{ room: place.room }])],
    ['shutRooms', () => from.shutRooms()],
    ['subscriptionsIn', () => from.subscriptionsIn(place.room)],
    [
      'move',
      () =>
        from.move({
          from: place.room,
          subscription: place.subscription,
          to: place.room,
          account: place.account,
          except: [],
        }),
    ],
    ['lookAfterHeld', () => from.lookAfterHeld()],
    ['noteScanned', () => from.noteScanned(place.room, { changes: 1 })],
    ['sumsBeyond', () => from.sumsBeyond({ ofAccount: { rows: 1, bytes: 1 }, allBytes: 1 })],
    ['endBeyond', () => from.endBeyond(place.account, { rows: 1, bytes: 1 })],
    ['figures', () => from.figures()],
  ];

  test('where it is', async () => {
    const gone = await PostgresStand.start(1);
    await gone[Symbol.asyncDispose]();
    for (const [, ask] of every(waitingIn(gone.postgres, { process: randomUUID() }))) {
      await expect(ask()).rejects.toThrow(Unavailable);
    }
  });

  test('where it has not the tables yet', async () => {
    await stand.sql('alter schema waybell rename to elsewhere');
    try {
      for (const [, ask] of every(store)) await expect(ask()).rejects.toThrow(Unavailable);
    } finally {
      await stand.sql('alter schema elsewhere rename to waybell');
    }
  });
});
