import { describe, expect, test } from '@jest/globals';
import { noResult } from '@waybell/line/messages';
import { Unavailable } from '@waybell/runtime/unavailable';
import { aRow, aTarget, roomOf, SomeDeliverers, SUBSCRIPTION, TARGET } from '../testing/waiting.ts';

const ROOM = roomOf(TARGET);
const LATER = { afterMs: 3_600_000 };
const OTHER = '0b9c2f6e-7d1f-4e57-8f5e-000000000009';

describe('what waits and is over', () => {
  test.each([
    ['unsubscribed', { ...TARGET, state: 'ended' as const }],
    ['switched off', { ...TARGET, state: 'deactivated' as const }],
    ['without its feature', { ...TARGET, isFeatureOn: false }],
    ['gone', undefined],
  ])(
    'leaves without room where its subscription is %s, within a second of that, and nothing else does',
    async (_what, over) => {
      await using some = new SomeDeliverers();
      const one = some.start();
      await some.store.put([aRow('over', LATER), aRow('other', { ...LATER, subscription: OTHER })]);
      await some.store.claim({ kind: 'named', rooms: [ROOM] });
      await some.store.release([{ room: ROOM, afterMs: LATER.afterMs, shutForMs: 60_000 }]);
      await some.clock.runFor(3_000);
      expect(one.names).toEqual([]);
      some.findTarget = (guid) => (guid === SUBSCRIPTION ? over : TARGET);
      some.waiting.changed(ROOM);
      await some.clock.runFor(1_100);
      expect(one.names).toEqual(['over']);
      one.taken.get('over')?.acknowledge();
      await some.clock.runFor(1_000);
      expect(some.waiting.room(ROOM)).toMatchObject({ changes: 0, rows: { size: 1 } });
      expect(some.waiting.room(ROOM)?.claimedBy).toBeUndefined();
    },
  );

  test('moves to the room of the endpoint that its subscription leads to now, but for what is in hand', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    const moved = aTarget('moved');
    await some.store.put([aRow('in hand'), aRow('moves', LATER), aRow('stays', { ...LATER, subscription: OTHER })]);
    await some.clock.runFor(1_000);
    some.findTarget = (guid) => (guid === SUBSCRIPTION ? moved : TARGET);
    some.waiting.changed(ROOM);
    await some.clock.runFor(1_100);
    const idsIn = async (room: string) =>
      (await some.store.take([{ room, limit: 9, madeBefore: 9 }]))[0]?.rows.map(({ id }) => id.slice(0, -2));
    expect([await idsIn(ROOM), await idsIn(roomOf(moved))]).toEqual([['in hand', 'stays'], ['moves']]);
    expect(one.names).toEqual(['in hand']);
  });

  test.each([
    ['before', 10, 5],
    ['after', 4, 20],
  ])('is not taken where it was by a read whose answer comes %s that of the move', async (_, moveMs, takeMs) => {
    await using some = new SomeDeliverers();
    const store = some.waiting.storeFor('slow');
    const take: typeof store.take = async (wanted) => {
      const taken = await store.take(wanted);
      await some.clock.sleep(takeMs);
      return taken;
    };
    const move: typeof store.move = async (what) => {
      await some.clock.sleep(moveMs / 2);
      const count = await store.move(what);
      await some.clock.sleep(moveMs / 2);
      return count;
    };
    const held = { messages: 10, bytes: 2 ** 30 };
    const one = some.start({ store: { ...store, take, move }, inHandLimit: held });
    const rows = Array.from({ length: 30 }, (__, at) => aRow(`${at}`, { madeAt: at + 1 }));
    await some.store.put(rows);
    await some.clock.runFor(1_000);
    expect(one.names).toHaveLength(10);
    const moved = aTarget('moved');
    some.findTarget = () => moved;
    for (const source of one.taken.values()) source.acknowledge();
    await some.clock.runFor(1);
    one.flow.rules.onMoved(ROOM);
    await some.clock.runFor(50);
    const there = rows.filter((row) => some.waiting.room(roomOf(moved))?.rows.get(row) !== undefined);
    expect(there.length).toBeGreaterThan(0);
    expect(there.filter(({ id }) => one.names.includes(id.slice(0, -2)))).toEqual([]);
  });

  test('holds up nothing of another subscription while it moves, nor is it read again and again', async () => {
    await using some = new SomeDeliverers();
    const store = some.waiting.storeFor('slow');
    const move: typeof store.move = async (what) => {
      await some.clock.sleep(20_000);
      return store.move(what);
    };
    let reads = 0;
    const take: typeof store.take = (wanted) => {
      reads += 1;
      return store.take(wanted);
    };
    const held = { messages: 10, bytes: 2 ** 30 };
    const one = some.start({ store: { ...store, take, move }, inHandLimit: held });
    const rows = (count: number, name: string, subscription: string) =>
      Array.from({ length: count }, (_, at) => aRow(`${name} ${at}`, { subscription, madeAt: at + 1 }));
    await some.store.put([...rows(500, 'moves', SUBSCRIPTION), aRow('stays', { madeAt: 501, subscription: OTHER })]);
    await some.clock.runFor(1_000);
    some.findTarget = (guid) => (guid === SUBSCRIPTION ? aTarget('moved') : TARGET);
    one.flow.rules.onMoved(ROOM);
    await some.clock.runFor(1);
    for (const source of one.taken.values()) source.acknowledge();
    reads = 0;
    await some.clock.runFor(5_000);
    expect(one.names).toContain('stays');
    expect(one.names).toHaveLength(11);
    expect(reads).toBeLessThan(400);
  });

  test('is found, too, by a row that leads elsewhere when it is handled', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    const moved = aTarget('moved');
    await some.store.put([aRow('in hand'), aRow('moves', LATER)]);
    await some.clock.runFor(1_000);
    some.findTarget = () => moved;
    one.flow.rules.onMoved(ROOM);
    await some.clock.runFor(10);
    expect(some.waiting.room(roomOf(moved))?.rows.size).toBe(1);
  });

  test('is looked for again where it was not known', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('over', LATER)]);
    some.findTarget = () => noResult(new Unavailable('postgres', async () => undefined));
    some.waiting.changed(ROOM);
    await some.clock.runFor(3_000);
    some.findTarget = () => undefined;
    await some.clock.runFor(1_100);
    expect(one.names).toEqual(['over']);
  });

  test('leaves though another subscription in the room cannot be read', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('unread', { ...LATER, subscription: OTHER }), aRow('over', LATER)]);
    some.findTarget = (guid) => (guid === OTHER ? noResult(new Error('it cannot be opened')) : undefined);
    some.waiting.changed(ROOM);
    await some.clock.runFor(1_100);
    expect(one.names).toEqual(['over']);
  });

  test('is what is too old, found by the first row that is taken', async () => {
    await using some = new SomeDeliverers();
    some.clock.skipTo(10_000_000);
    const old = ['old 1', 'old 2', 'old 3'].map((name, at) => aRow(name, { madeAt: at + 1 }));
    await some.store.put([...old, aRow('young', { madeAt: 9_000_000 })]);
    await some.store.claim({ kind: 'named', rooms: [ROOM] });
    await some.store.release([{ room: ROOM, afterMs: 0, shutForMs: 60_000 }]);
    const one = some.start();
    await some.clock.runFor(1_500);
    expect(one.names).toEqual(['old 1', 'old 2', 'old 3']);
  });

  test('is the oldest of an account that has too many, and says so; none of the newest, whatever its sum says', async () => {
    await using some = new SomeDeliverers();
    const limits = { ofAccount: { rows: 2, bytes: 2 ** 30 }, allBytes: 2 ** 30 };
    const one = some.start({ limits });
    const rows = [3, 1, 4, 2].map((at) => aRow(`row ${at}`, { madeAt: at, ...LATER }));
    for (const row of rows) await one.flow.tools.putDelivery({ kind: 'wait', row });
    await some.clock.runFor(3_000);
    expect(one.names).toEqual(['row 1', 'row 2']);
    expect(one.taken.get('row 1')?.messages[0]?.waited).toMatchObject({ isOverLimit: true });
    for (const source of one.taken.values()) source.acknowledge();
    await some.clock.runFor(60_000);
    expect([one.names, some.waiting.count]).toEqual([['row 1', 'row 2'], 2]);
  });

  test('ends no open request that is under way', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('open', { ...LATER, why: 'open' }), aRow('over', LATER)]);
    some.findTarget = () => undefined;
    some.waiting.changed(ROOM);
    await some.clock.runFor(1_100);
    expect(one.names).toEqual(['over']);
  });

  test.each([
    [{ messages: 3, bytes: 2 ** 30 }, 64],
    [{ messages: 1_000, bytes: 6 }, 64],
  ])('is taken no more while too much is in hand, by number or by weight: %j', async (held, most) => {
    await using some = new SomeDeliverers();
    const one = some.start({ inHandLimit: held });
    await some.store.put(Array.from({ length: 200 }, (_, at) => aRow(`row ${at}`, { madeAt: at + 1, ...LATER })));
    some.findTarget = () => undefined;
    some.waiting.changed(ROOM);
    await some.clock.runFor(3_000);
    expect(one.names).toHaveLength(most);
  });
});
