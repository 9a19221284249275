import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeRow } from '../delivery-batch.ts';
import type { WaitingRow, WaitingLimits, WaitingStore } from './waiting-store.ts';
import { ALL, aPlace, aRow, STANDS, takeFrom, type Place, weighs, type WaitingStand } from './testing/waiting-stand.ts';

const GENEROUS: WaitingLimits = { ofAccount: { rows: 1_000, bytes: 2 ** 20 }, allBytes: 2 ** 30 };
const bytesOf = (rows: readonly WaitingRow[]) =>
  rows.reduce((sum, { delivery }) => sum + delivery.body.length + writeRow(delivery).length, 0);

describe.each(STANDS)('sums %s', (_, start) => {
  let stand: WaitingStand;
  let store: WaitingStore;
  beforeEach(async () => {
    stand = await start();
    store = stand.store();
  });
  afterEach(async () => {
    await stand[Symbol.asyncDispose]();
  });

  const put = async (...rows: WaitingRow[]) => {
    await store.put(rows);
    await store.flushSums();
  };
  const beyond = async (given: Partial<WaitingLimits> = {}) => {
    const { all, beyond: found } = await store.sumsBeyond({ ...GENEROUS, ...given });
    return { all, beyond: found.map(({ holder, mayHave }) => ({ holder, mayHave })) };
  };

  test('are of rows, bodies and properties together, and follow what is put, settled and moved', async () => {
    const [place, other] = [aPlace(), aPlace()];
    const rows = [aRow(place, 'a'), aRow(place, 'b', { madeAt: 2 }), aRow(other, 'c')];
    await put(...rows);
    await put(aRow(place, 'a', { why: 'hung' }));
    expect((await beyond()).all).toEqual({ rows: 3, bytes: bytesOf(rows) });
    const taken = await takeFrom(store, place.room, 1);
    await store.settle(taken);
    await store.settle(taken);
    const to = aPlace({ account: place.account });
    await store.move({
      from: place.room,
      subscription: place.subscription,
      to: to.room,
      account: to.account,
      except: [],
    });
    await store.flushSums();
    const { all, beyond: found } = await store.sumsBeyond({ ...GENEROUS, ofAccount: { rows: 0, bytes: 0 } });
    expect(all).toEqual({ rows: 2, bytes: bytesOf(rows.slice(1)) });
    expect(found.find(({ holder }) => holder === place.account)).toMatchObject({
      rows: 1,
      bytes: bytesOf([rows[1] ?? rows[0] ?? aRow(place, '')]),
    });
  });

  test('tell who has more than it may by more than a hundredth', async () => {
    const [one, two] = [aPlace(), aPlace()];
    await put(
      ...Array.from({ length: 101 }, (_unused, at) => aRow(one, `${at}`)),
      aRow(two, 'large', { delivery: weighs(9_000) }),
    );
    const ofAccount = { rows: 100, bytes: 2 ** 20 };
    expect((await beyond({ ofAccount })).beyond).toEqual([]);
    await put(aRow(one, 'one more'));
    expect((await beyond({ ofAccount })).beyond).toEqual([{ holder: one.account, mayHave: ofAccount }]);
    const light = { rows: 1_000, bytes: 8_000 };
    expect((await beyond({ ofAccount: light })).beyond.map(({ holder }) => holder)).toContain(two.account);
  });

  test('beyond the limit for all are taken from who has most', async () => {
    const [small, large] = [aPlace(), aPlace()];
    const rows = [aRow(small, 'a', { delivery: weighs(1_000) }), aRow(large, 'b', { delivery: weighs(5_000) })];
    await put(...rows);
    const [all, most] = [bytesOf(rows), bytesOf(rows.slice(1))];
    expect((await beyond({ allBytes: all })).beyond).toEqual([]);
    expect((await beyond({ allBytes: all - 500 })).beyond).toEqual([
      { holder: large.account, mayHave: { ...GENEROUS.ofAccount, bytes: most - 500 } },
    ]);
    expect((await beyond({ allBytes: 0 })).beyond).toEqual([
      { holder: large.account, mayHave: { ...GENEROUS.ofAccount, bytes: 0 } },
    ]);
  });

  describe('of an account that has too many', () => {
    const place = aPlace();
    const elsewhere = aPlace({ account: place.account });
    const dated = (of: Place, madeAt: number, bytes = 10) => aRow(of, `${madeAt}`, { madeAt, delivery: weighs(bytes) });
    const size = bytesOf([dated(place, 1)]);
    const marks = async () => {
      const claimed = (await store.claim({ kind: 'named', rooms: [place.room, elsewhere.room] })).map(
        ({ room, overBefore }) => [room === place.room ? 'place' : 'elsewhere', overBefore],
      );
      return Object.fromEntries(claimed) as Record<string, number | undefined>;
    };

    test.each([
      ['in number', { rows: 2, bytes: 2 ** 20 }, { place: 3, elsewhere: undefined }],
      ['in bytes', { rows: 9, bytes: 2 * size + 1 }, { place: 3, elsewhere: undefined }],
      ['with nothing that it may have', { rows: 9, bytes: 0 }, { place: 5, elsewhere: 5 }],
    ])('mark what is older than the newest that it may have, %s', async (_what, mayHave, expected) => {
      await put(dated(place, 1), dated(place, 2), dated(place, 4), dated(elsewhere, 3));
      expect(await store.endBeyond(place.account, mayHave)).toBe(true);
      expect(await marks()).toEqual(expected);
    });

    test('have the rooms looked at, whatever they are, once; and ended rows are no longer meant', async () => {
      await put(dated(place, 1), dated(place, 2));
      await store.claim(ALL);
      await store.release([{ room: place.room, afterMs: 3_600_000, shutForMs: 1 }]);
      expect(await store.endBeyond(place.account, { rows: 1, bytes: 2 ** 20 })).toBe(true);
      const none = { ...ALL, open: 0, shut: 0 };
      const [found] = await store.claim(none);
      expect(found).toMatchObject({ room: place.room, overBefore: 2 });
      // More came: marked as it is, it is not read again.
      await put(dated(place, 3));
      expect(await store.endBeyond(place.account, { rows: 1, bytes: 2 ** 20 })).toBe(true);
      await store.noteScanned(place.room, { changes: 0, overBefore: 1 });
      expect((await store.renew([{ room: place.room, lives: false }]))[0]?.overBefore).toBe(2);
      await store.noteScanned(place.room, { changes: 0, overBefore: 2 });
      expect((await store.renew([{ room: place.room, lives: false }]))[0]?.overBefore).toBeUndefined();
      expect(await store.endBeyond(place.account, { rows: 1, bytes: 2 ** 20 })).toBe(true);
      expect((await store.claim(none))[0]?.overBefore).toBe(3);
    });

    test('that it has not are no reason to end anything', async () => {
      await put(dated(place, 1), dated(place, 2));
      expect(await store.endBeyond(place.account, { rows: 2, bytes: 2 * size })).toBe(false);
      expect(await store.endBeyond(randomUUID(), { rows: 0, bytes: 0 })).toBe(false);
      expect(await marks()).toEqual({ place: undefined });
    });
  });

  test('are of all that waits, and say since when', async () => {
    expect(await store.figures()).toEqual({ rows: 0, bytes: 0 });
    const [one, other] = [aPlace(), aPlace()];
    const rows = [aRow(one, 'a', { madeAt: 5 }), aRow(one, 'b', { madeAt: 7 }), aRow(other, 'c', { madeAt: 4 })];
    await put(...rows);
    expect(await store.figures()).toEqual({ rows: 3, bytes: bytesOf(rows), oldestAt: 4 });
    expect((await beyond()).all).toEqual({ rows: 3, bytes: bytesOf(rows) });
  });
});
