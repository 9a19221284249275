import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { TakenKey, WaitingStore } from './waiting-store.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { ALL, aPlace, aRow, nameOf, PostgresStand, takeFrom, type Place } from './testing/waiting-stand.ts';

const stand = shared(() => PostgresStand.start(12));
let store: WaitingStore;
beforeEach(() => {
  store = stand.store();
});
afterEach(async () => {
  await stand.empty();
});

const ORPHANS = `select from waybell.deliverer_waiting w where not exists (
  select from waybell.deliverer_rooms r where r.room = w.room)`;
/** Resolves also if the work is done without waiting. */
async function untilItWaits(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  void Promise.allSettled([work]).then(() => (isDone = true));
  const areLocksWaitedFor = async () => (await stand.sql('select from pg_locks where not granted')).length > 0;
  await until('it waits for a lock', async () => isDone || (await areLocksWaitedFor()));
}

describe('a room that is released', () => {
  test('while something is being put there stays', async () => {
    const [place, process] = [aPlace(), randomUUID()];
    await store.put([aRow(place, 'a')]);
    const mine = stand.store(process);
    await mine.claim(ALL);
    await mine.settle(await takeFrom(mine, place.room));
    const putting = await stand.inOpenTransaction((other) => other.put([aRow(place, 'b')]));
    const releasing = mine.release([{ room: place.room }]);
    await untilItWaits(releasing);
    await putting.commit();
    expect(await releasing).toEqual([]);
    expect(await stand.sql(ORPHANS)).toEqual([]);
    expect((await takeFrom(store, place.room)).map(nameOf)).toEqual(['b']);
    expect(await store.claim(ALL)).toHaveLength(1);
  });

  test('and is gone is made again by what is put there meanwhile', async () => {
    const [place, process] = [aPlace(), randomUUID()];
    await store.put([aRow(place, 'a')]);
    await stand.store(process).claim(ALL);
    await store.settle(await takeFrom(store, place.room));
    const releasing = await stand.inOpenTransaction((mine) => mine.release([{ room: place.room }]), process);
    const putting = store.put([aRow(place, 'b')]);
    await untilItWaits(putting);
    await releasing.commit();
    expect(await putting).toHaveLength(1);
    expect(await store.claim(ALL)).toMatchObject([{ room: place.room }]);
  });

  test('is never missing while rows are put, settled and released at once', async () => {
    const places = Array.from({ length: 4 }, () => aPlace());
    let [isOver, gone] = [false, 0];
    const release = async (one: WaitingStore) => {
      while (!isOver) {
        const rooms = (await one.claim(ALL)).map(({ room }) => ({ room }));
        gone += (await one.release(rooms)).length;
      }
    };
    const watch = async () => {
      while (!isOver) expect(await stand.sql(ORPHANS)).toEqual([]);
    };
    const put = async (putter: number) => {
      const of = places.filter((_, index) => index === putter || index === (putter + 1) % 4);
      for (let round = 0; round < 60 || gone < 50; round += 1) {
        const rows = of.map((place) => aRow(place, `${putter} ${round}`, { madeAt: round }));
        const numbers = await store.put(round % 2 === 0 ? rows : rows.toReversed());
        expect(await store.retain(rows)).toEqual([true, true]);
        await store.settle(rows.map((row, at) => ({ ...row, no: (numbers[round % 2 === 0 ? at : 1 - at] ?? 0) + 1 })));
      }
    };
    const beside = [release(stand.store()), release(stand.store()), watch()];
    await Promise.all([0, 1, 2, 3].map(put)).finally(() => (isOver = true));
    await Promise.all(beside);
    expect(await stand.count()).toBe(0);
  });
});

describe('locks are had in the order of keys, so that nobody waits in a circle:', () => {
  const place = aPlace();
  const elsewhere = { ...place, room: aPlace().room };
  const [first, last] = [aRow(place, 'a', { madeAt: 1 }), aRow(place, 'b', { madeAt: 2 })];
  const keys = async (): Promise<TakenKey[]> => (await takeFrom(store, place.room)).toReversed();
  const moving = ({ room: from, subscription, account }: Place, { room: to }: Place) => {
    return { from, subscription, to, account, except: [] };
  };
  const isFree = async (text: string, values: unknown[]) => {
    try {
      await stand.sql(`${text} for update nowait`, values);
      return true;
    } catch {
      return false;
    }
  };

  test.each([
    ['put', async () => store.put([last, first])],
    ['retain', async () => store.retain([last, first])],
    ['settle', async () => store.settle(await keys())],
    ['postpone', async () => store.postpone(await keys(), 1)],
    ['move from there', async () => store.move(moving(place, elsewhere))],
    [
      'move to where they are already',
      async () => {
        await store.put([first, last].map((row) => ({ ...row, room: elsewhere.room })));
        await store.move(moving(elsewhere, place));
      },
    ],
    ['hold', async () => store.move({ ...moving(place, place), held: { why: 'stopped', maxAgeMs: 1 } })],
  ])('%s waits for the first row with no lock of a later one', async (_, work) => {
    await store.put([first, last]);
    const holding = await stand.inOpenTransaction((_store, client) =>
      client.query('select from waybell.deliverer_waiting where room = $1 and made_at = 1 for update', [place.room]),
    );
    const working = work();
    await untilItWaits(working);
    const of = 'select from waybell.deliverer_waiting where room = $1 and made_at = 2';
    expect(await isFree(of, [place.room])).toBe(true);
    await holding.commit();
    await working;
  });

  test.each([
    ['renew', async (rooms: string[], mine: WaitingStore) => mine.renew(rooms.map((room) => ({ room, lives: true })))],
    [
      'release',
      async (rooms: string[], mine: WaitingStore) => mine.release(rooms.map((room) => ({ room, afterMs: 0 }))),
    ],
  ])('%s waits for the first room with no lock of a later one', async (_, work) => {
    const rooms = [aPlace(), aPlace()].map((each) => each.room).toSorted();
    // In the order of the table, the later one is first.
    for (const room of rooms.toReversed()) await store.put([aRow(aPlace({ room }), 'a')]);
    const mine = stand.store();
    await mine.claim(ALL);
    const holding = await stand.inOpenTransaction((_store, client) =>
      client.query('select from waybell.deliverer_rooms where room = $1 for update', [rooms[0]]),
    );
    const working = work(rooms.toReversed(), mine);
    await untilItWaits(working);
    expect(await isFree('select from waybell.deliverer_rooms where room = $1', [rooms[1]])).toBe(true);
    await holding.commit();
    await working;
  });

  test('however many do all of it at once, in whatever order', async () => {
    const places = Array.from({ length: 5 }, () => aPlace());
    const shuffled = <T>(all: readonly T[]) => all.toSorted(() => 0.5 - Math.random());
    const rooms = places.map(({ room }) => room);
    for (let round = 0; round < 20; round += 1) {
      const rows = places.flatMap((each) => ['a', 'b', 'c'].map((name) => aRow(each, `${name} ${round}`)));
      const mine = stand.store();
      await store.put(rows);
      await mine.claim(ALL);
      const taken = (await mine.take(rooms.map((room) => ({ room, limit: 64 })))).flatMap((each) => each.rows);
      await Promise.all([
        store.put(shuffled(rows)),
        store.put(shuffled(rows)),
        store.retain(shuffled(rows)),
        mine.settle(shuffled(taken)),
        mine.postpone(shuffled(taken), 1),
        mine.renew(shuffled(rooms).map((room) => ({ room, lives: true }))),
      ]);
      await Promise.all([
        mine.release(shuffled(rooms).map((room) => ({ room, afterMs: 0 }))),
        store.put(shuffled(rows)),
      ]);
    }
    expect(await stand.sql(ORPHANS)).toEqual([]);
  });

  test('a claim passes over a room that is locked', async () => {
    await store.put([first, aRow(aPlace(), 'c')]);
    const holding = await stand.inOpenTransaction((_store, client) =>
      client.query('select from waybell.deliverer_rooms where room = $1 for update', [place.room]),
    );
    expect(await store.claim(ALL)).toHaveLength(1);
    await holding.commit();
    expect(await store.claim(ALL)).toHaveLength(1);
  });
});
