import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RowsWanted } from '@waybell/deliverer/parking/parking-store';
import type { ParkedRow } from '@waybell/line/messages';
import { aRow, nameOf, STANDS, type ParkingStand, type Subscribed } from './parking-stand.ts';

describe.each(STANDS)('what is parked %s', (_, start) => {
  let stand: ParkingStand;
  beforeAll(async () => {
    stand = await start();
  });
  afterAll(async () => {
    await stand[Symbol.asyncDispose]();
  });

  const wanted = (from: Subscribed | readonly Subscribed[], given: Partial<RowsWanted> = {}): RowsWanted => ({
    endpoint: 'wanted',
    after: new Map([from].flat().map(({ subscription }) => [subscription, undefined])),
    limit: 64,
    ...given,
  });
  const take = async (...asked: Parameters<typeof wanted>): Promise<ParkedRow[]> =>
    (await stand.store.take([wanted(...asked)]))[0]?.rows ?? [];
  const names = async (...asked: Parameters<typeof wanted>) => (await take(...asked)).map(nameOf);

  describe('taking', () => {
    test('gives everything back as it was put in', async () => {
      const one = await stand.subscribe();
      const row = aRow(one, 'one', {
        traceparent: '00-a-b-01',
        why: 'hung',
        attempt: 3,
        hop: 7,
      });
      await stand.store.insert([row]);
      expect(await take(one)).toEqual([row]);
    });

    test('takes the oldest first, over all subscriptions of the endpoint, whichever was put in first', async () => {
      const [one, other] = [await stand.subscribe(), await stand.subscribe()];
      await stand.store.insert([aRow(one, 'd', { createdAt: 4 }), aRow(other, 'b', { createdAt: 2 })]);
      await stand.store.insert([aRow(one, 'a', { createdAt: 1 }), aRow(other, 'c', { createdAt: 3 })]);
      expect(await names([one, other])).toEqual(['a', 'b', 'c', 'd']);
      expect(await names([one, other], { limit: 3 })).toEqual(['a', 'b', 'c']);
      expect(await names(other, { limit: 1 })).toEqual(['b']);
    });

    test('goes on after what each subscription was read up to, whether or not that is there still', async () => {
      const [one, other] = [await stand.subscribe(), await stand.subscribe()];
      const rows = [1, 2, 3].flatMap((at) => [
        aRow(one, `one ${at}`, { createdAt: at }),
        aRow(other, `other ${at}`, { createdAt: at + 10 }),
      ]);
      await stand.store.insert(rows);
      const after = new Map([
        [one.subscription, rows[2]],
        [other.subscription, rows[1]],
      ]);
      expect(await names(one, { after })).toEqual(['one 3', 'other 2', 'other 3']);
      await stand.store.remove(rows.slice(0, 3));
      expect(await names(one, { after })).toEqual(['one 3', 'other 2', 'other 3']);
    });

    test('tells deliveries of one millisecond, attempts and hops apart', async () => {
      const one = await stand.subscribe();
      const rows = ['a', 'B', 'é', 'z'].flatMap((name) =>
        [1, 2].flatMap((attempt) => [1, 2].map((hop) => aRow(one, name, { delivery: name, attempt, hop }))),
      );
      await stand.store.insert(rows);
      const read: ParkedRow[] = [];
      for (let next: ParkedRow[] = []; ;) {
        next = await take(one, { limit: 3, after: new Map([[one.subscription, read.at(-1)]]) });
        if (next.length === 0) break;
        read.push(...next);
      }
      expect(read).toHaveLength(rows.length);
      expect(new Set(read)).toEqual(new Set(rows));
    });

    test('takes 1 MiB of bodies at most for each endpoint, but the first whatever it weighs', async () => {
      const [one, other] = [await stand.subscribe(), await stand.subscribe()];
      const weighs = (bytes: number, createdAt: number) => ({ createdAt, body: Buffer.alloc(bytes, 'x') });
      await stand.store.insert([
        aRow(one, 'half', weighs(2 ** 19, 1)),
        aRow(one, 'other half', weighs(2 ** 19, 2)),
        aRow(one, 'one byte', weighs(1, 3)),
        aRow(other, 'large', weighs(2 ** 20 + 1, 1)),
        aRow(other, 'small', weighs(1, 2)),
      ]);
      const taken = await stand.store.take([wanted(one, { endpoint: 'one' }), wanted(other, { endpoint: 'other' })]);
      expect(taken.map(({ endpoint, rows }) => [endpoint, ...rows.map(nameOf)])).toEqual([
        ['one', 'half', 'other half'],
        ['other', 'large'],
      ]);
      expect(taken.map(({ isCut }) => isCut)).toEqual([true, true]);
    });

    test('takes nothing before its time, unless what is old is asked for', async () => {
      const one = await stand.subscribe();
      const { subscription } = one;
      await stand.store.insert([
        aRow(one, 'later', { createdAt: 1, notBeforeMs: 7_200_000 }),
        aRow(one, 'soon', { createdAt: 2, notBeforeMs: 3_600_000 }),
      ]);
      expect(await names(one)).toEqual([]);
      expect(await names(one, { madeBefore: 2 })).toEqual(['later']);
      const waits = (await stand.store.oldest([subscription])).get(subscription);
      expect(waits?.createdAt).toBe(1);
      expect(Math.ceil((waits?.mayBeTakenInMs ?? 0) / 3_600_000)).toBe(1);
      await stand.later(3_600_000);
      expect(await names(one)).toEqual(['soon']);
      expect(await stand.store.oldest([subscription, randomUUID()])).toEqual(
        new Map([[subscription, { createdAt: 1, mayBeTakenInMs: 0 }]]),
      );
      await stand.later(3_600_000);
      expect(await names(one)).toEqual(['later', 'soon']);
    });

    test('says of a body that was deleted for an erasure request that it is forgotten', async () => {
      const one = await stand.subscribe();
      const row = aRow(one, 'one');
      await stand.store.insert([row]);
      await stand.forget(row);
      expect(await take(one)).toEqual([{ ...row, body: Buffer.alloc(0), isForgotten: true }]);
    });

    test('takes nothing of what has no rows, or never was', async () => {
      expect(await stand.store.take([])).toEqual([]);
      expect(await stand.store.take([wanted([])])).toEqual([{ endpoint: 'wanted', rows: [] }]);
      expect(await names(await stand.subscribe())).toEqual([]);
    });
  });

  describe('putting in', () => {
    test('leaves what is there as it is, and parks again what was moved once more', async () => {
      const one = await stand.subscribe();
      await stand.store.insert([aRow(one, 'a', { note: 'first' }), aRow(one, 'a', { note: 'in the same batch' })]);
      await stand.store.insert([aRow(one, 'a', { note: 'later' }), aRow(one, 'a', { hop: 2, note: 'moved' })]);
      expect((await take(one)).map(({ hop, note }) => [hop, note])).toEqual([
        [1, 'first'],
        [2, 'moved'],
      ]);
    });

    test('refuses what is for a subscription that never was, and keeps the rest', async () => {
      const one = await stand.subscribe();
      const nobody = { subscription: randomUUID(), account: '', callbackUrl: '' };
      await expect(stand.store.insert([aRow(nobody, 'b'), aRow(one, 'a')])).rejects.toThrow(
        new RegExp(`nothing can be parked for ${nobody.subscription}`),
      );
      expect(await names(one)).toEqual(['a']);
    });

    test('is seen by a process that asks for the same attempt, moved so often or less', async () => {
      const one = await stand.subscribe();
      const row = aRow(one, 'a', { hop: 3 });
      await stand.store.insert([row]);
      const asked = [{}, { hop: 2 }, { hop: 4 }, { attempt: 2 }, { createdAt: 999 }, { delivery: 'b' }];
      expect(await stand.store.has(asked.map((given) => ({ ...row, ...given })))).toEqual([
        true,
        true,
        false,
        false,
        false,
        false,
      ]);
      await stand.store.remove([row, row]);
      expect(await stand.store.has([row])).toEqual([false]);
      expect(await stand.store.has([])).toEqual([]);
    });
  });
});
