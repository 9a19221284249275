import { describe, expect, test } from '@jest/globals';
import { AnOwner, aRow, ENDPOINT, SUBSCRIPTION, TARGET } from '../testing/parked.ts';
import { LEASE_MS } from './parking-store.ts';
import { shardOf } from './shard-of.ts';

const REVIEW_MS = 31_000;

describe('the owner of what is parked', () => {
  test('takes it within a second, once; deletes it when it is acknowledged, and not before', async () => {
    await using own = new AnOwner();
    await own.store.insert([aRow('one')]);
    await own.clock.runFor(1_000);
    expect(own.names).toEqual(['one']);
    const first = own.taken.get('one');
    own.owner.hasRoom(ENDPOINT.endpoint);
    await own.clock.runFor(10_000);
    expect(own.taken.get('one')).toBe(first);
    expect(own.store.count).toBe(1);
    first?.acknowledge();
    await own.clock.runFor(1);
    expect(own.store.count).toBe(0);
    expect(own.owner.consumer.held()).toBe(0);
  });

  test('has all of the limits of the account, which other deliverers divide', async () => {
    await using own = new AnOwner();
    for (const other of ['one', 'two', 'three']) await own.store.lease(other, new Set());
    await own.clock.runFor(6_000);
    expect(own.owner.partOf(TARGET.account)).toBe(1 / 4);
    for (const other of ['one', 'two', 'three']) await own.store.release(other);
    await own.clock.runFor(6_000);
    await own.store.insert([aRow('one')]);
    await own.store.lease('late', new Set());
    await own.clock.runFor(6_000);
    expect([own.owner.partOf(TARGET.account), own.owner.partOf('another')]).toEqual([1, 1 / 2]);
    own.taken.get('one')?.acknowledge();
    await own.clock.runFor(6_000);
    expect(own.owner.partOf(TARGET.account)).toBe(1 / 2);
  });

  test('takes again what was given back', async () => {
    await using own = new AnOwner();
    await own.store.insert([aRow('one')]);
    await own.clock.runFor(1_000);
    const first = own.taken.get('one');
    first?.giveBack();
    await own.clock.runFor(5_000);
    expect(own.store.count).toBe(1);
    expect(own.taken.get('one')).not.toBe(first);
  });

  test('looks at nothing before its time, and then at once', async () => {
    await using own = new AnOwner();
    await own.store.insert([aRow('later', { notBeforeMs: 10_000 }), aRow('now')]);
    await own.clock.runFor(9_000);
    expect(own.names).toEqual(['now']);
    await own.clock.runFor(3_000);
    expect(own.names).toEqual(['now', 'later']);
  });

  test('takes nothing while the broker blocks or a dependency is away', async () => {
    await using own = new AnOwner();
    await own.owner.consumer.pause('away');
    await own.store.insert([aRow('one')]);
    await own.clock.runFor(3_000);
    own.state = 'blocked';
    own.owner.consumer.resume('away');
    await own.clock.runFor(3_000);
    expect(own.names).toEqual([]);
    own.state = 'writable';
    await own.clock.runFor(2_000);
    expect(own.names).toEqual(['one']);
  });

  test('holds nothing when its lease is over, and takes back what it had before any other may', async () => {
    await using own = new AnOwner();
    const row = aRow('one');
    await own.store.insert([row]);
    await own.clock.runFor(1_000);
    own.store.isAway = true;
    const acknowledged = own.taken.get('one');
    expect(own.owner.holds(row)).toBe(true);
    await own.clock.runFor(LEASE_MS);
    expect(own.cut).toEqual(['one']);
    expect(own.owner.holds(row)).toBe(false);
    own.store.isAway = false;
    acknowledged?.acknowledge();
    await own.clock.runFor(1);
    expect(own.store.count).toBe(1);
  });

  test('finds out at once that it stood still for longer than its lease', async () => {
    await using own = new AnOwner();
    const row = aRow('one');
    await own.store.insert([row]);
    await own.clock.runFor(1_000);
    own.clock.skipTo(own.clock.now() + LEASE_MS);
    expect(own.owner.holds(row)).toBe(false);
    expect(own.cut).toEqual(['one']);
  });
});

describe('the owner of what is parked, while Postgres is slow', () => {
  test('keeps its lease however long it takes to count what is parked, and sees what is new', async () => {
    await using own = new AnOwner();
    own.store.recount = () => own.clock.sleep(10 * LEASE_MS);
    await own.store.insert([aRow('one')]);
    await own.clock.runFor(2 * LEASE_MS);
    own.taken.get('one')?.acknowledge();
    await own.store.insert([aRow('two')]);
    await own.clock.runFor(2_500);
    expect([own.names, own.cut]).toEqual([['one', 'two'], []]);
  });

  test('takes nothing that another owns by the time it hears of it', async () => {
    await using own = new AnOwner();
    await own.clock.runFor(1_500);
    const { dueHeads, lease } = own.store;
    own.store.lease = () => Promise.reject(new Error('too slow'));
    own.store.dueHeads = async (shards) => {
      const heads = await dueHeads.call(own.store, shards);
      await own.clock.sleep(LEASE_MS);
      return heads;
    };
    await own.store.insert([aRow('one')]);
    await own.clock.runFor(LEASE_MS + 500);
    await lease.call(own.store, 'another', new Set());
    await own.clock.runFor(LEASE_MS / 2);
    expect(own.names).toEqual([]);
  });

  test('takes what is new, and ends what is too much, though one subscription cannot be read', async () => {
    await using own = new AnOwner({ most: 2 });
    own.findTarget = () => new Error('it cannot be opened');
    const of = { notBeforeMs: 3_600_000 };
    await own.store.insert([3, 1, 2].map((at) => aRow(`row ${at}`, { createdAt: at, ...of })));
    await own.clock.runFor(3_000);
    expect(own.names).toEqual(['row 1']);
  });

  test('is not held up by one that stays in hand, however much each weighs', async () => {
    await using own = new AnOwner();
    const body = Buffer.alloc(700 * 2 ** 10);
    await own.store.insert(['one', 'two', 'three'].map((name) => aRow(name, { body })));
    await own.clock.runFor(1_000);
    expect(own.names).toHaveLength(3);
  });
});

describe('what is parked and over', () => {
  test('leaves without room where no subscription is to have it, within a second of that', async () => {
    await using own = new AnOwner();
    await own.store.insert([aRow('later', { notBeforeMs: 3_600_000 })]);
    await own.clock.runFor(3_000);
    expect(own.names).toEqual([]);
    own.target = { ...TARGET, state: 'ended' };
    own.store.changed({ subscription: SUBSCRIPTION, ...ENDPOINT });
    await own.clock.runFor(1_100);
    expect(own.names).toEqual(['later']);
  });

  test('is what is too old, found now and then', async () => {
    await using own = new AnOwner();
    own.clock.skipTo(3_600_000);
    const of = { notBeforeMs: 3_600_000 };
    await own.store.insert([aRow('old', { createdAt: 1, ...of }), aRow('young', { createdAt: 200_000, ...of })]);
    await own.clock.runFor(REVIEW_MS);
    expect(own.names).toEqual(['old']);
  });

  test('is the oldest of an account that has too many, and says so', async () => {
    await using own = new AnOwner({ most: 2 });
    const of = { notBeforeMs: 3_600_000 };
    await own.store.insert([3, 1, 4, 2].map((at) => aRow(`row ${at}`, { createdAt: at, ...of })));
    await own.clock.runFor(3_000);
    expect(own.names).toEqual(['row 1', 'row 2']);
    expect(own.taken.get('row 1')?.messages[0]?.parked).toMatchObject({ isOverLimit: true });
  });

  test('is none of the newest that an account may have, whatever its sum says', async () => {
    await using own = new AnOwner({ most: 2 });
    const of = { notBeforeMs: 3_600_000 };
    await own.clock.runFor(3_000);
    await own.store.insert([3, 1, 4, 2].map((at) => aRow(`row ${at}`, { createdAt: at, ...of })));
    for (let times = 0; times < 5; times += 1) {
      await own.store.addToSums([{ account: TARGET.account, rows: 4, bytes: 8 }]);
      await own.clock.runFor(3_000);
      for (const source of own.taken.values()) source.acknowledge();
    }
    expect(own.names).toEqual(['row 1', 'row 2']);
    // The wrong sum was counted again.
    const { own: sums } = await own.store.sums([shardOf(TARGET.account)]);
    expect(sums).toEqual([expect.objectContaining({ rows: 2 })]);
  });
});
