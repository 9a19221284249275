import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endpointKey } from '@waybell/deliverer/endpoints/endpoint';
import { shardOf } from '@waybell/deliverer/parking/shard-of';
import { ALL_SHARDS, aRow, STANDS, type ParkingStand, type Subscribed } from './parking-stand.ts';

describe.each(STANDS)('what is known of what is parked %s', (_, start) => {
  let stand: ParkingStand;
  beforeAll(async () => {
    stand = await start();
  });
  afterAll(async () => {
    await stand[Symbol.asyncDispose]();
  });

  const dueOf = async (subscriptions: readonly Subscribed[]) => {
    const due = await stand.store.dueHeads(ALL_SHARDS);
    return subscriptions.flatMap(({ subscription }) => due.filter((head) => head.subscription === subscription));
  };

  describe('heads', () => {
    test('are due once, with what is known of them, until something happens to their subscription', async () => {
      const one = await stand.subscribe();
      const { subscription, account } = one;
      await stand.store.insert([aRow(one, 'a')]);
      const known = { subscription, account, shard: shardOf(account) };
      const head = { ...known, endpoint: endpointKey(one).endpoint, isHung: false, deaths: 0 };
      expect(await dueOf([one])).toEqual([head]);
      await stand.store.insert([aRow(one, 'b')]);
      expect(await dueOf([one])).toEqual([]);
      await stand.store.wake(subscription);
      expect(await dueOf([one])).toEqual([head]);
      await stand.changeUrl(one, 'https://other.test/');
      const moved = endpointKey({ account, callbackUrl: 'https://other.test/' }).endpoint;
      expect(await dueOf([one])).toEqual([{ ...head, endpoint: moved }]);
      await stand.store.markHung([subscription], true);
      expect(await dueOf([one])).toEqual([]);
      expect(await stand.store.heads(ALL_SHARDS)).toContainEqual({ ...head, endpoint: moved, isHung: true });
    });

    test('are not due any more once all of them were asked for', async () => {
      const one = await stand.subscribe();
      await stand.store.insert([aRow(one, 'a')]);
      expect((await stand.store.heads(ALL_SHARDS)).map(({ subscription }) => subscription)).toContain(one.subscription);
      expect(await dueOf([one])).toEqual([]);
      expect(await stand.store.heads([])).toEqual([]);
    });

    test('go when they have no rows, and come again', async () => {
      const one = await stand.subscribe();
      const rows = [aRow(one, 'a'), aRow(one, 'b')];
      await stand.store.insert(rows);
      expect(await stand.store.removeEmpty([one.subscription, randomUUID()])).toEqual([]);
      await stand.store.remove(rows);
      expect(await stand.store.removeEmpty([one.subscription])).toEqual([one.subscription]);
      expect(await stand.store.removeEmpty([one.subscription])).toEqual([]);
      expect(await dueOf([one])).toEqual([]);
      await stand.store.insert(rows);
      expect(await dueOf([one])).toHaveLength(1);
    });
  });

  describe('sums', () => {
    test('follow what is added, and are counted anew from what is there', async () => {
      const { store } = stand;
      await store.recount(ALL_SHARDS);
      const before = await store.sums(ALL_SHARDS);
      const [one, large] = [await stand.subscribe(), await stand.subscribe()];
      const rows = [aRow(one, 'a', { body: Buffer.alloc(7) }), aRow(one, 'b', { body: Buffer.alloc(3) })];
      await store.insert([...rows, aRow(large, 'c', { body: Buffer.alloc(2 ** 23) })]);
      const sum = { account: one.account, rows: 2, bytes: 10 };
      const largest = { account: large.account, rows: 1, bytes: 2 ** 23 };
      await store.addToSums([sum, largest, { ...sum, rows: 5, bytes: 5 }, { ...sum, rows: -5, bytes: -5 }]);
      const after = await store.sums(ALL_SHARDS);
      expect(after.all).toEqual({ rows: before.all.rows + 3, bytes: before.all.bytes + 10 + 2 ** 23 });
      expect(after.own).toEqual(expect.arrayContaining([sum, largest]));
      expect(after.largest).toEqual(largest);
      expect(await store.sums([])).toEqual({ ...after, own: [] });

      await store.remove(rows);
      await store.addToSums([{ account: large.account, rows: 9, bytes: 9 }]);
      await store.recount(ALL_SHARDS);
      const counted = await store.sums(ALL_SHARDS);
      expect(counted.all).toEqual({ rows: before.all.rows + 1, bytes: before.all.bytes + 2 ** 23 });
      expect(counted.own).not.toContainEqual(expect.objectContaining({ account: one.account }));
      expect(counted.largest).toEqual(largest);
      await store.addToSums([]);
    });

    test('tells when the oldest was made of the newest that may be, and how many others there are', async () => {
      const { store } = stand;
      const account = randomUUID();
      const [one, other] = [await stand.subscribe({ account }), await stand.subscribe({ account })];
      const rows = [4, 1, 2].map((createdAt) => aRow(one, `at ${createdAt}`, { createdAt, body: Buffer.alloc(10) }));
      await store.insert([...rows, aRow(other, 'at 3', { createdAt: 3, body: Buffer.alloc(100) })]);
      const both = [one.subscription, other.subscription];
      const within = (count: number, bytes: number, of = both) => store.newestWithin(of, { rows: count, bytes });
      expect(await within(9, 999)).toEqual({ since: 1, others: 0 });
      expect(await within(3, 999)).toEqual({ since: 2, others: 1 });
      expect(await within(9, 119)).toEqual({ since: 3, others: 2 });
      expect(await within(9, 109)).toEqual({ since: 4, others: 3 });
      expect(await within(9, 20, [one.subscription])).toEqual({ since: 2, others: 1 });
      expect(await within(9, 9)).toEqual({ since: Infinity, others: 4 });
      expect(await within(9, 9, [])).toEqual({ since: Infinity, others: 0 });
    });
  });
});
