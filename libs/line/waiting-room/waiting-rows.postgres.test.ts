import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aDelivery } from '../testing/a-delivery.ts';
import type { RowsWanted, TakenRow, WaitingStore } from './waiting-store.ts';
import {
  ALL,
  aPlace,
  aRow,
  hex,
  nameOf,
  STANDS,
  takeFrom,
  type Place,
  type WaitingStand,
  weighs,
} from './testing/waiting-stand.ts';

const HOUR_MS = 3_600_000;

describe.each(STANDS)('rows %s', (_, start) => {
  let stand: WaitingStand;
  let store: WaitingStore;
  beforeAll(async () => {
    stand = await start();
    store = stand.store();
  });
  afterAll(async () => {
    await stand[Symbol.asyncDispose]();
  });

  const take = async ({ room }: Place, given: Partial<RowsWanted> = {}): Promise<TakenRow[]> =>
    (await store.take([{ room, limit: 64, ...given }]))[0]?.rows ?? [];
  const names = async (...asked: Parameters<typeof take>) => (await take(...asked)).map(nameOf);

  describe('taking', () => {
    test('gives everything back as it was put in, whatever strangers wrote into it', async () => {
      const place = aPlace();
      const delivery = aDelivery({
        guid: 'nul \0 "quoted", \\ {and} braced',
        action: 'ünïcode \ud83d\ude9a',
        traceparent: 'x\0y',
        body: Buffer.from('x\0y'),
      });
      const { account: _account, delivery: __, ...row } = aRow(place, 'one', { why: 'hung', id: 'nul \\0 1' });
      const [no] = await store.put([{ ...row, account: place.account, delivery }]);
      const content = { body: delivery.body, delivery };
      expect(await take(place)).toMatchObject([{ ...row, no, content }]);
    });

    test('takes the oldest first, whichever was put in first, and tells those of one millisecond apart', async () => {
      const place = aPlace();
      await store.put([aRow(place, 'd', { madeAt: 4 }), aRow(place, 'b', { madeAt: 2 })]);
      await store.put([aRow(place, 'a', { madeAt: 1 }), aRow(place, 'c', { madeAt: 2 })]);
      expect(await names(place)).toEqual(['a', 'b', 'c', 'd']);
      expect(await names(place, { limit: 3 })).toEqual(['a', 'b', 'c']);
    });

    test('goes on after what the room was read up to, whether or not that is there still', async () => {
      const place = aPlace();
      const rows = ['a', 'B', 'é', 'z'].flatMap((name) => [1, 2].map((madeAt) => aRow(place, name, { madeAt })));
      await store.put(rows);
      const read: TakenRow[] = [];
      for (let next: TakenRow[] = []; ;) {
        next = await take(place, { limit: 3, ...(read.length === 0 ? {} : { after: read.at(-1) as TakenRow }) });
        if (next.length === 0) break;
        await store.settle(next);
        read.push(...next);
      }
      expect(read.map(({ madeAt, id }) => `${madeAt} ${id}`).toSorted()).toEqual(
        rows.map(({ madeAt, id }) => `${madeAt} ${id}`).toSorted(),
      );
    });

    test('takes 1 MiB of bodies at most of each room, but the first whatever it weighs', async () => {
      const [one, other] = [aPlace(), aPlace()];
      const heavy = (bytes: number, madeAt: number) => ({
        madeAt,
        delivery: weighs(bytes),
      });
      await store.put([
        aRow(one, 'half', heavy(2 ** 19, 1)),
        aRow(one, 'other half', heavy(2 ** 19, 2)),
        aRow(one, 'one byte', heavy(1, 3)),
        aRow(other, 'large', heavy(2 ** 20 + 1, 1)),
        aRow(other, 'small', heavy(1, 2)),
      ]);
      const taken = await store.take([one, other, aPlace()].map(({ room }) => ({ room, limit: 64 })));
      expect(taken.map(({ rows }) => rows.map(nameOf))).toEqual([['half', 'other half'], ['large'], []]);
      expect(taken.map(({ isCut }) => isCut)).toEqual([true, true, undefined]);
      expect((await store.take([{ room: one.room, limit: 2 }]))[0]?.isCut).toBeUndefined();
    });

    test('takes nothing before its time, unless what is old is asked for; and never a request under way', async () => {
      const place = aPlace();
      await store.put([
        aRow(place, 'later', { madeAt: 1, afterMs: 2 * HOUR_MS }),
        aRow(place, 'soon', { madeAt: 2, afterMs: HOUR_MS }),
        aRow(place, 'open', { madeAt: 1, why: 'open', afterMs: 2 * HOUR_MS }),
      ]);
      expect(await names(place)).toEqual([]);
      expect(await names(place, { madeBefore: 2 })).toEqual(['later']);
      expect(await names(place, { madeBefore: Number.MAX_SAFE_INTEGER })).toEqual(['later', 'soon']);
      await stand.later(HOUR_MS);
      expect(await names(place)).toEqual(['soon']);
      await stand.later(HOUR_MS);
      expect(await names(place)).toEqual(['later', 'open', 'soon']);
      expect(await names(place, { madeBefore: 2 })).toEqual(['later', 'open']);
    });

    test('takes those of some subscriptions alone where it is asked to', async () => {
      const place = aPlace();
      const other = aPlace(place);
      other.subscription = randomUUID();
      await store.put([
        aRow(place, 'a'),
        aRow(other, 'b'),
        aRow(aPlace({ ...place, subscription: randomUUID() }), 'c'),
      ]);
      expect(await names(place, { subscriptions: [other.subscription] })).toEqual(['b']);
      expect(await names(place, { subscriptions: [other.subscription, place.subscription] })).toEqual(['a', 'b']);
      expect(await names(place, { subscriptions: [] })).toEqual([]);
    });

    test('says of a body that was deleted for an erasure request that it is forgotten; and settles that as any other', async () => {
      const place = aPlace();
      const row = aRow(place, 'one');
      await store.put([row, aRow(place, 'two')]);
      await stand.forget(row);
      const [forgotten, other] = await take(place);
      expect(forgotten).toMatchObject({
        isForgotten: true,
        content: { body: Buffer.alloc(0), delivery: { ...row.delivery, body: Buffer.alloc(0) } },
      });
      expect(other?.isForgotten).toBeUndefined();
      await store.settle(await take(place));
      expect(await take(place)).toEqual([]);
    });

    test('takes nothing of what has no rows', async () => {
      expect(await store.take([])).toEqual([]);
      expect(await store.put([])).toEqual([]);
      expect(await store.retain([])).toEqual([]);
      expect(await store.postpone([], 1)).toEqual([]);
      await store.settle([]);
    });
  });

  describe('a row that is put again', () => {
    test('while it is in hand stays when what was taken is settled, with the reason and the time of the last put', async () => {
      const place = aPlace();
      await store.put([aRow(place, 'a', { why: 'hung' })]);
      const [taken] = await take(place);
      const [no] = await store.put([aRow(place, 'a', { why: 'egress', afterMs: HOUR_MS })]);
      if (taken === undefined) throw new Error('nothing was taken');
      expect(no).toBeGreaterThan(taken.no);
      await store.settle([taken]);
      expect(await take(place)).toEqual([]);
      await stand.later(HOUR_MS);
      expect(await take(place)).toEqual([{ ...taken, why: 'egress', no }]);
    });

    test('is one, and its body stays as it was; of several at once the last counts', async () => {
      const place = aPlace();
      await store.put([aRow(place, 'a', { delivery: weighs('first') })]);
      const numbers = await store.put([aRow(place, 'a', { why: 'hung' }), aRow(place, 'a', { why: 'busy' })]);
      const [row, ...more] = await take(place);
      expect(more).toEqual([]);
      expect(row).toMatchObject({ why: 'busy', content: { delivery: weighs('first') }, no: numbers[0] });
      expect(numbers[1]).toBe(numbers[0]);
    });

    test('after it was settled is no longer what a settle that is repeated means', async () => {
      const place = aPlace();
      await store.put([aRow(place, 'a')]);
      const taken = await take(place);
      await store.settle(taken);
      await store.put([aRow(place, 'a')]);
      await store.settle(taken);
      expect(await names(place)).toEqual(['a']);
    });

    test('by a message that came again is retained: it is there, and what had it cannot settle or postpone it', async () => {
      const place = aPlace();
      await store.put([aRow(place, 'a'), aRow(place, 'b')]);
      const taken = await take(place);
      expect(await store.retain([aRow(place, 'a'), aRow(place, 'c'), aRow(aPlace(), 'a')])).toEqual([
        true,
        false,
        false,
      ]);
      expect(await store.postpone(taken, HOUR_MS)).toEqual([false, true]);
      await store.settle(taken);
      expect(await names(place)).toEqual(['a']);
    });
  });

  test('what is postponed is due later, and is still settled by those that have it', async () => {
    const place = aPlace();
    const [no = 0] = await store.put([aRow(place, 'a', { why: 'open', afterMs: HOUR_MS })]);
    const key = { ...aRow(place, 'a'), no };
    await stand.later(HOUR_MS / 2);
    expect(await store.postpone([key], HOUR_MS)).toEqual([true]);
    expect(await store.postpone([{ ...key, no: no + 1 }], 0)).toEqual([false]);
    await stand.later(HOUR_MS / 2);
    expect(await names(place)).toEqual([]);
    await stand.later(HOUR_MS / 2);
    expect(await names(place)).toEqual(['a']);
    await store.settle([key]);
    expect(await names(place)).toEqual([]);
  });

  describe('rows of another endpoint', () => {
    test('are moved to its room, but those in hand: none is lost or there twice', async () => {
      const [from, to] = [aPlace(), aPlace()];
      const stays = aPlace({ ...from, subscription: randomUUID() });
      const rows = Array.from({ length: 1_200 }, (_unused, at) =>
        aRow(from, `m${at}`, { madeAt: at, afterMs: HOUR_MS }),
      );
      await store.put([...rows, aRow(stays, 'stays'), aRow({ ...from, room: to.room }, 'm0', { madeAt: 0 })]);
      expect((await store.subscriptionsIn(from.room)).toSorted()).toEqual(
        [from.subscription, stays.subscription].toSorted(),
      );
      const inHand = rows.slice(10, 12);
      const what = {
        from: from.room,
        subscription: from.subscription,
        to: to.room,
        account: from.account,
        except: inHand,
      };
      const moved: number[] = [];
      for (let count = 1; count > 0; moved.push(count)) count = await store.move(what);
      expect(moved.reduce((sum, count) => sum + count, 0)).toBe(1_198);
      expect(await names(from, { madeBefore: Number.MAX_SAFE_INTEGER })).toEqual(['m10', 'm11', 'stays']);
      // Earlier rows stay unchanged.
      expect(await names(to)).toEqual(['m0']);
      await stand.later(HOUR_MS);
      expect((await takeFrom(store, to.room, 2_000)).map(nameOf)).toEqual(
        rows.filter((row) => !inHand.includes(row)).map(nameOf),
      );
    });

    test('have a room made for them that is looked at', async () => {
      const from = aPlace();
      await store.put([aRow(from, 'a')]);
      const to = aPlace({ account: from.account });
      expect(await store.move({ ...what(from, to), except: [] })).toBe(1);
      expect(await store.move({ ...what(from, to), except: [] })).toBe(0);
      expect((await store.claim(ALL)).filter(({ room }) => room === to.room)).toMatchObject([
        { account: from.account },
      ]);
      const [taken] = await takeFrom(store, to.room);
      await store.settle(taken === undefined ? [] : [taken]);
      expect(await names(to)).toEqual([]);
    });

    test('stay while a request is under way, as whoever makes it has their key', async () => {
      const from = aPlace();
      const to = aPlace({ account: from.account });
      await store.put([aRow(from, 'open', { why: 'open', afterMs: HOUR_MS })]);
      expect(await store.move({ ...what(from, to), except: [] })).toBe(0);
      await stand.later(HOUR_MS);
      expect(await store.move({ ...what(from, to), except: [] })).toBe(1);
    });
  });

  describe('rows of a subscription that is held', () => {
    const YEARS_MS = 100 * 365 * 24 * HOUR_MS;
    const everything = { madeBefore: Number.MAX_SAFE_INTEGER };

    test('wait in a room of their own until then, or until they are too old, whatever they waited for before', async () => {
      const from = aPlace();
      const own = aPlace({ ...from, room: hex(from.subscription) });
      const now = await stand.now();
      await store.put([
        aRow(from, 'old', { madeAt: now - 2 * HOUR_MS }),
        aRow(from, 'young', { madeAt: now - HOUR_MS, why: 'egress', afterMs: 1_000 }),
        aRow(from, 'open', { madeAt: now, why: 'open', afterMs: HOUR_MS }),
        aRow({ ...from, subscription: randomUUID() }, 'other'),
      ]);
      const held = { why: 'paused', until: now + 2 * HOUR_MS, maxAgeMs: 3 * HOUR_MS } as const;
      expect(await store.move({ ...what(from, own), except: [], held })).toBe(2);
      expect(await names(from, everything)).toEqual(['other']);
      await stand.later(HOUR_MS / 2);
      expect(await names(own)).toEqual([]);
      await stand.later(HOUR_MS / 2 + 1_000);
      expect(await names(own)).toEqual(['old']);
      await stand.later(HOUR_MS);
      const taken = await takeFrom(store, own.room);
      expect(taken.map((row) => [nameOf(row), row.why])).toEqual([
        ['old', 'paused'],
        ['young', 'paused'],
      ]);
    });

    test('are due at once where they are let go, and only those that waited for that', async () => {
      const from = aPlace();
      const own = aPlace({ ...from, room: hex(from.subscription) });
      await store.put([
        aRow(own, 'stopped', { why: 'stopped', afterMs: HOUR_MS }),
        aRow(own, 'paused', { why: 'paused', afterMs: HOUR_MS }),
        aRow(own, 'later', { why: 'egress', afterMs: HOUR_MS }),
      ]);
      expect(await store.move({ ...what(own, from), except: [] })).toBe(3);
      expect((await takeFrom(store, from.room)).map((row) => [nameOf(row), row.why])).toEqual([
        ['paused', 'full'],
        ['stopped', 'full'],
      ]);
      await stand.later(HOUR_MS);
      expect(await names(from)).toEqual(['later', 'paused', 'stopped']);
    });

    test('stay where they are for as long as is said last, but those in hand, and their room is looked at then', async () => {
      const place = aPlace();
      const own = aPlace({ ...place, room: hex(place.subscription) });
      const now = await stand.now();
      const inHand = aRow(own, 'in hand', { why: 'paused', afterMs: 9 * HOUR_MS });
      await store.put([inHand, aRow(own, 'a', { why: 'paused', afterMs: 9 * HOUR_MS })]);
      const hold = (until: number) =>
        store.move({
          ...what(own, own),
          except: [inHand],
          held: { why: 'paused', until: now + until, maxAgeMs: YEARS_MS },
        });
      expect(await hold(HOUR_MS)).toBe(1);
      expect(await hold(HOUR_MS)).toBe(0);
      expect(await stand.room(own.room)).toMatchObject({ isDue: false });
      await stand.later(HOUR_MS + 1_000);
      expect(await stand.room(own.room)).toMatchObject({ isDue: true });
      expect(await names(own)).toEqual(['a']);
    });
  });

  const what = (from: Place, to: Place) => ({
    from: from.room,
    subscription: from.subscription,
    to: to.room,
    account: from.account,
  });
});
