import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { LEASE_MS, RENEW_MS } from '@waybell/deliverer/parking/parking-store';
import { shardOf } from '@waybell/deliverer/parking/shard-of';
import { ALL_SHARDS, aRow, STANDS, type ParkingStand } from './parking-stand.ts';

const NONE: ReadonlySet<number> = new Set();

describe.each(STANDS)('leases %s', (_, start) => {
  let stand: ParkingStand;
  beforeAll(async () => {
    stand = await start();
  });
  beforeEach(async () => {
    stand = await stand.empty();
  });
  afterAll(async () => {
    await stand[Symbol.asyncDispose]();
  });

  const owners = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
  const renew = async (owner: string, keep = NONE) => (await stand.store.lease(owner, keep)).owned;
  /** Each renews three times: says that it lives, gives back, takes. */
  const settle = async (all: readonly string[]): Promise<number[][]> => {
    for (let turn = 0; turn < 2; turn += 1) for (const owner of all) await renew(owner);
    return Promise.all(all.map((owner) => renew(owner)));
  };
  const deathsOf = async (subscription: string) =>
    (await stand.store.heads(ALL_SHARDS)).find((head) => head.subscription === subscription)?.deaths;

  test.each([1, 2, 3, 4, 5])('share the shards among %i, each to one, none more than its share', async (count) => {
    const shares = await settle(owners(count));
    expect(shares.flat().toSorted((one, other) => one - other)).toEqual(ALL_SHARDS);
    for (const share of shares) expect(share.length).toBeLessThanOrEqual(Math.ceil(32 / count));
    for (const share of shares) expect(share.length).toBeGreaterThan(0);
  });

  test('are no more than one at every moment, while owners come, go and stand still', async () => {
    const all = owners(5);
    const believes = new Map<string, { shards: number[]; until: number }>();
    let now = 0;
    for (let turn = 0; turn < 60; turn += 1) {
      const owner = all[(turn * 7 + (turn % 3)) % 5] ?? '';
      const isGoing = turn % 11 === 10;
      if (isGoing) await stand.store.release(owner);
      believes.set(owner, { shards: isGoing ? [] : await renew(owner), until: now + LEASE_MS });
      const had = [...believes.values()].flatMap(({ shards, until }) => (until > now ? shards : []));
      expect(new Set(had).size).toBe(had.length);
      now += RENEW_MS;
      await stand.later(RENEW_MS);
    }
  });

  test('are no more than one each, however many ask at once', async () => {
    const all = owners(10);
    for (let turn = 0; turn < 5; turn += 1) {
      const had = (await Promise.all(all.map((owner) => renew(owner)))).flat();
      expect(new Set(had).size).toBe(had.length);
    }
    expect((await settle(all)).flat()).toHaveLength(32);
  });

  test('that still have rows in hand are kept until they are not', async () => {
    const [one = '', other = ''] = owners(2);
    expect(await renew(one)).toEqual(ALL_SHARDS);
    const given = await renew(other);
    expect(given).toEqual([]);
    const { owned, leaving } = await stand.store.lease(one, new Set(ALL_SHARDS));
    expect(owned).toEqual(ALL_SHARDS);
    const kept = await renew(one);
    expect(kept.length).toBe(16);
    // It was to take no more of these.
    expect(leaving).toEqual(ALL_SHARDS.filter((shard) => !kept.includes(shard)));
    expect(await stand.store.lease(other, NONE)).toEqual({
      owned: ALL_SHARDS.filter((shard) => !kept.includes(shard)),
      taken: ALL_SHARDS.filter((shard) => !kept.includes(shard)),
      leaving: [],
      deliverers: 2,
    });
  });

  test('go to others once they are over; their old owner learns so, and is not taken for the new one', async () => {
    const [one = '', other = ''] = owners(2);
    await renew(one);
    await stand.later(LEASE_MS - 1_000);
    expect(await renew(other)).toEqual([]);
    await stand.later(2_000);
    const all = { owned: ALL_SHARDS, taken: ALL_SHARDS, leaving: [], deliverers: 1 };
    expect(await stand.store.lease(other, NONE)).toEqual(all);
    const none = { owned: [], taken: [], leaving: [], deliverers: 2 };
    expect(await stand.store.lease(one, new Set(ALL_SHARDS))).toEqual(none);
    const kept = await renew(other);
    const { owned, taken } = await stand.store.lease(one, NONE);
    expect(taken).toEqual(owned);
    expect([...kept, ...owned].toSorted((a, b) => a - b)).toEqual(ALL_SHARDS);
  });

  test('that ran out and that no other took are their own again, and not new', async () => {
    const [one = ''] = owners(1);
    await renew(one);
    await stand.later(10 * LEASE_MS);
    const all = { owned: ALL_SHARDS, taken: [], leaving: [], deliverers: 1 };
    expect(await stand.store.lease(one, NONE)).toEqual(all);
  });

  test('that are released go to another at once, and count no death', async () => {
    const [one = '', other = ''] = owners(2);
    const subscribed = await stand.subscribe();
    await stand.store.insert([aRow(subscribed, 'a')]);
    await renew(one);
    await stand.store.release(one);
    const all = { owned: ALL_SHARDS, taken: ALL_SHARDS, leaving: [], deliverers: 1 };
    expect(await stand.store.lease(other, NONE)).toEqual(all);
    expect(await deathsOf(subscribed.subscription)).toBe(0);
  });

  test('say how many deliverers live, from when each first asks until it goes or its lease is over', async () => {
    const [one = '', other = '', third = ''] = owners(3);
    const seenBy = async (owner: string) => (await stand.store.lease(owner, NONE)).deliverers;
    expect([await seenBy(one), await seenBy(other), await seenBy(third), await seenBy(one)]).toEqual([1, 2, 3, 3]);
    await stand.store.release(other);
    expect(await seenBy(one)).toBe(2);
    await stand.later(LEASE_MS + 1_000);
    expect(await seenBy(one)).toBe(1);
  });

  test('count the owners that died over what is parked, until a row of it is deleted', async () => {
    const subscribed = await stand.subscribe();
    const [row, other] = [aRow(subscribed, 'a'), aRow(subscribed, 'b')];
    await stand.store.insert([row, other]);
    for (const owner of owners(3)) {
      expect(await renew(owner)).toEqual(ALL_SHARDS);
      await stand.later(LEASE_MS + 1_000);
    }
    expect(await deathsOf(subscribed.subscription)).toBe(2);
    await stand.store.remove([{ ...row, hop: 2 }]);
    expect(await deathsOf(subscribed.subscription)).toBe(2);
    await stand.store.remove([row]);
    expect(await deathsOf(subscribed.subscription)).toBe(0);
  });

  test('are of shards that tell what is in them from the rest', async () => {
    const one = await stand.subscribe();
    const shard = shardOf(one.account);
    await stand.store.insert([aRow(one, 'a')]);
    expect(await stand.store.dueHeads(ALL_SHARDS.filter((each) => each !== shard))).toEqual([]);
    expect(await stand.store.dueHeads([shard])).toHaveLength(1);
  });
});
