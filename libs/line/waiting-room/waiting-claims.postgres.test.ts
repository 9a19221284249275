import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CLAIM_MS, type Claim, type ClaimedRoom, type WaitingRow, type WaitingStore } from './waiting-store.ts';
import { ALL, aPlace, aRow, hex, STANDS, takeFrom, type WaitingStand } from './testing/waiting-stand.ts';

const HOUR_MS = 3_600_000;

describe.each(STANDS)('rooms %s', (_, start) => {
  let stand: WaitingStand;
  let [mine, other]: WaitingStore[] = [];
  beforeEach(async () => {
    stand = await start();
    [mine, other] = [stand.store(), stand.store()];
  });
  afterEach(async () => {
    await stand[Symbol.asyncDispose]();
  });
  const at = (store: WaitingStore | undefined): WaitingStore => {
    if (store === undefined) throw new Error('made before each test');
    return store;
  };

  const endpoints = (given: Partial<Claim & { kind: 'endpoints' }> = {}): Claim => ({
    ...ALL,
    kind: 'endpoints',
    ...given,
  });
  const named = (...rooms: string[]): Claim => ({ kind: 'named', rooms });
  const roomsOf = (claimed: ClaimedRoom[]) => claimed.map(({ room }) => room);

  /** A room with one row. */
  async function aRoom({ account = randomUUID(), isShut = false } = {}) {
    const place = aPlace({ account });
    await at(mine).put([aRow(place, 'a')]);
    if (isShut) {
      await at(mine).claim(named(place.room));
      await at(mine).release([{ room: place.room, afterMs: 0, shutForMs: 5_000 }]);
    }
    return place;
  }

  const settleAll = async (room: string) => at(mine).settle(await takeFrom(at(mine), room));

  describe('a claim', () => {
    test('is of one process at a time, until its time is over', async () => {
      const { room, account } = await aRoom();
      expect(await at(mine).claim(ALL)).toEqual([{ room, account, changes: 0, crashes: 0 }]);
      expect(await at(other).claim(ALL)).toEqual([]);
      expect(await at(other).claim(named(room))).toEqual([]);
      await stand.later(CLAIM_MS - 1_000);
      expect(await at(other).claim(ALL)).toEqual([]);
      await stand.later(1_000);
      expect(roomsOf(await at(other).claim(ALL))).toEqual([room]);
      expect(await at(mine).claim(ALL)).toEqual([]);
    });

    test('stands while rows that are due are moved to its room', async () => {
      const [to, from] = [await aRoom(), await aRoom()];
      await at(mine).put([aRow(from, 'b')]);
      await at(other).claim(named(to.room));
      const { account } = to;
      await at(mine).move({ from: from.room, subscription: from.subscription, to: to.room, account, except: [] });
      expect(await takeFrom(at(other), to.room)).toHaveLength(2);
      expect(await at(mine).claim(named(to.room))).toEqual([]);
    });

    test('is had of a room as soon as the first of its rows is due, in whichever order they came', async () => {
      for (const order of [(rows: WaitingRow[]) => rows, (rows: WaitingRow[]) => rows.toReversed()]) {
        const place = aPlace();
        await at(mine).put([aRow(place, 'last', { afterMs: 2 * HOUR_MS })]);
        await at(mine).put(
          order([aRow(place, 'late', { afterMs: HOUR_MS }), aRow(place, 'first', { afterMs: 1_000 })]),
        );
        await stand.later(1_000);
        expect(roomsOf(await at(mine).claim(ALL))).toEqual([place.room]);
      }
    });

    test('goes on as long as it is renewed in time; a renewal that comes too late finds nothing', async () => {
      const { room } = await aRoom();
      await at(mine).claim(ALL);
      for (let times = 0; times < 3; times += 1) {
        await stand.later(CLAIM_MS - 1_000);
        expect(roomsOf(await at(mine).renew([{ room, lives: false }]))).toEqual([room]);
      }
      expect(await at(other).renew([{ room, lives: false }])).toEqual([]);
      await stand.later(CLAIM_MS);
      expect(await at(mine).renew([{ room, lives: false }])).toEqual([]);
      expect(await at(mine).renew([])).toEqual([]);
    });

    test('is of so many that are open and so many that are shut, the longest due first, but none of accounts that have enough', async () => {
      const shut = [await aRoom({ isShut: true }), await aRoom({ isShut: true })];
      await stand.later(1_000);
      const open = [await aRoom(), await aRoom()];
      await stand.later(1_000);
      const [late] = [await aRoom()];
      expect(roomsOf(await at(mine).claim(endpoints({ open: 0, shut: 0 })))).toEqual([]);
      const first = await at(mine).claim(endpoints({ open: 2, shut: 1 }));
      expect(new Set(roomsOf(first))).toEqual(
        new Set([...open.map(({ room }) => room), first.find((each) => each.shutForMs)?.room]),
      );
      expect(first.find(({ shutForMs }) => shutForMs !== undefined)?.shutForMs).toBeGreaterThanOrEqual(7_000);
      const exceptAccounts = [late?.account ?? ''];
      expect(roomsOf(await at(other).claim(endpoints({ open: 9, shut: 0, exceptAccounts })))).toEqual([]);
      expect(await at(other).claim(endpoints({ exceptAccounts }))).toHaveLength(1);
      expect(shut.map(({ room }) => room)).toEqual(
        expect.arrayContaining([first.find((each) => each.shutForMs)?.room]),
      );
      expect(roomsOf(await at(other).claim(ALL))).toEqual([late?.room]);
    });

    test('by name is of rooms due or not, shut or not', async () => {
      const [later, shut] = [await aRoom(), await aRoom({ isShut: true })];
      await at(mine).claim(ALL);
      await at(mine).release([
        { room: later.room, afterMs: HOUR_MS },
        { room: shut.room, afterMs: HOUR_MS, shutForMs: 9_000 },
      ]);
      expect(await at(other).claim(ALL)).toEqual([]);
      const both = named(later.room, shut.room, hex(randomUUID()));
      expect(roomsOf(await at(other).claim(both)).toSorted()).toEqual([later.room, shut.room].toSorted());
      expect(await at(other).claim(both)).toHaveLength(2);
      expect(await at(mine).claim(both)).toEqual([]);
    });

    test('of rooms that changed comes first and beside the others, of own ones too', async () => {
      const exceptAccounts = [randomUUID()];
      const [own, left, theirs, full] = [
        await aRoom(),
        await aRoom({ isShut: true }),
        await aRoom(),
        await aRoom({ account: exceptAccounts[0] }),
      ];
      await at(mine).claim(named(own.room, left.room));
      await at(mine).release([{ room: left.room, afterMs: HOUR_MS, shutForMs: 1 }]);
      await at(other).claim(named(theirs.room));
      for (const { room } of [own, left, theirs, full]) await stand.changed(room);
      const none = endpoints({ open: 0, shut: 0, exceptAccounts });
      const claimed = await at(mine).claim(none);
      expect(roomsOf(claimed).toSorted()).toEqual([own.room, left.room].toSorted());
      expect(claimed.map(({ changes }) => changes)).toEqual([1, 1]);
      // Another time meanwhile: that remains to be looked at.
      await stand.changed(own.room);
      for (const { room, changes } of claimed) await at(mine).noteScanned(room, { changes });
      expect(await at(mine).claim(none)).toMatchObject([{ room: own.room, changes: 1 }]);
      await at(other).noteScanned(own.room, { changes: 1 });
      expect(await at(mine).renew([{ room: own.room, lives: true }])).toMatchObject([{ room: own.room, changes: 1 }]);
    });
  });

  describe('crashes', () => {
    test('are counted where another process claims what ran out, and not where the same one does', async () => {
      const { room } = await aRoom();
      for (let times = 0; times < 5; times += 1) {
        expect(await at(mine).claim(ALL)).toMatchObject([{ crashes: 0 }]);
        await stand.later(CLAIM_MS);
      }
      expect(await at(other).claim(ALL)).toMatchObject([{ crashes: 1 }]);
      await stand.later(CLAIM_MS);
      expect(await stand.store().claim(named(room))).toMatchObject([{ crashes: 2 }]);
    });

    test('are forgotten when a row was settled, or the room is released', async () => {
      const { room } = await aRoom();
      const die = async () => {
        await at(mine).claim(named(room));
        await stand.later(CLAIM_MS);
        return at(other).claim(named(room));
      };
      expect(await die()).toMatchObject([{ crashes: 1 }]);
      expect(await at(other).renew([{ room, lives: false }])).toMatchObject([{ crashes: 1 }]);
      expect(await at(other).renew([{ room, lives: true }])).toMatchObject([{ crashes: 0 }]);
      await stand.later(CLAIM_MS);
      expect(await die()).toMatchObject([{ crashes: 2 }]);
      await at(other).release([{ room, afterMs: 0 }]);
      expect(await at(mine).claim(ALL)).toMatchObject([{ crashes: 0 }]);
    });

    test('of a process that stood still are taken back when it renews', async () => {
      const { room } = await aRoom();
      await at(mine).claim(ALL);
      await stand.later(CLAIM_MS);
      expect(await at(other).claim(ALL)).toMatchObject([{ crashes: 1 }]);
      expect(await at(mine).renew([{ room, lives: false }])).toEqual([]);
      expect(await stand.room(room)).toMatchObject({ crashes: 0 });
      expect(await at(other).renew([{ room, lives: false }])).toMatchObject([{ crashes: 0 }]);
    });
  });

  describe('a room that is released', () => {
    test('is gone if it has no rows, and made again by the next', async () => {
      const place = await aRoom();
      const { room } = place;
      await at(mine).claim(ALL);
      await settleAll(room);
      expect(await at(other).release([{ room }])).toEqual([]);
      expect(await stand.room(room)).toBeDefined();
      expect(await at(mine).release([{ room }, { room: hex(randomUUID()) }])).toEqual([room]);
      expect(await stand.room(room)).toBeUndefined();
      expect(await at(mine).release([])).toEqual([]);
      await at(mine).put([aRow(place, 'b')]);
      expect(roomsOf(await at(other).claim(ALL))).toEqual([room]);
    });

    test('with nothing due is looked at when the first row is', async () => {
      const place = aPlace();
      const { room } = place;
      await at(mine).put([aRow(place, 'later', { afterMs: 2 * HOUR_MS }), aRow(place, 'soon', { afterMs: HOUR_MS })]);
      expect(await at(mine).claim(ALL)).toEqual([]);
      await at(mine).claim(named(room));
      expect(await at(mine).release([{ room }])).toEqual([]);
      expect(await at(mine).claim(ALL)).toEqual([]);
      await stand.later(HOUR_MS);
      expect(roomsOf(await at(mine).claim(ALL))).toEqual([room]);
      await at(mine).release([{ room }]);
      expect(roomsOf(await at(mine).claim(ALL))).toEqual([room]);
      await settleAll(room);
      await at(mine).release([{ room }]);
      expect(await at(mine).claim(ALL)).toEqual([]);
      await stand.later(HOUR_MS);
      expect(roomsOf(await at(mine).claim(ALL))).toEqual([room]);
    });

    test('with a row that comes due sooner than the next try is woken, unless it is shut or claimed', async () => {
      const [open, shut, claimed] = [await aRoom(), await aRoom(), await aRoom()];
      await at(mine).claim(ALL);
      await at(mine).release([
        { room: open.room, afterMs: HOUR_MS },
        { room: shut.room, afterMs: HOUR_MS, shutForMs: 0 },
      ]);
      for (const place of [open, shut, claimed]) await at(other).put([aRow(place, 'b', { afterMs: 60_000 })]);
      expect(await at(other).claim(ALL)).toEqual([]);
      for (let times = 0; times < 4; times += 1) {
        await stand.later(15_000);
        expect(await at(mine).renew([{ room: claimed.room, lives: false }])).toHaveLength(1);
      }
      expect(roomsOf(await at(other).claim(ALL))).toEqual([open.room]);
    });

    test('is woken by a row that is given back before its time', async () => {
      const place = aPlace();
      const [no = 0] = await at(mine).put([aRow(place, 'a', { why: 'open', afterMs: HOUR_MS })]);
      const key = { ...aRow(place, 'a'), no };
      await at(mine).postpone([key], 2 * HOUR_MS);
      expect(await at(other).claim(ALL)).toEqual([]);
      await at(mine).postpone([key], 0);
      expect(roomsOf(await at(other).claim(ALL))).toEqual([place.room]);
    });

    test('with changes nobody looked at is due at once', async () => {
      const { room } = await aRoom();
      await at(mine).claim(ALL);
      await at(mine).put([aRow({ ...aPlace(), room }, 'later', { afterMs: HOUR_MS })]);
      await settleAll(room);
      await stand.changed(room);
      await at(mine).release([{ room }]);
      expect(await at(other).claim(endpoints({ open: 0, shut: 0 }))).toMatchObject([{ room, changes: 1 }]);
    });

    test('is told as shut by those that have met it, for as long as it has been', async () => {
      const [open, shut] = [await aRoom(), await aRoom()];
      await at(mine).claim(ALL);
      await at(mine).release([
        { room: open.room, afterMs: 0 },
        { room: shut.room, afterMs: HOUR_MS, shutForMs: 60_000 },
      ]);
      await stand.later(5_000);
      const told = await at(other).shutRooms();
      expect([...told.keys()]).toEqual([shut.room]);
      expect(Math.round((told.get(shut.room) ?? 0) / 5_000)).toBe(13);
      await at(mine).claim(named(shut.room));
      expect((await at(other).shutRooms()).size).toBe(1);
      await at(mine).release([{ room: shut.room, afterMs: 0 }]);
      expect((await at(other).shutRooms()).size).toBe(0);
    });
  });
});
