import { describe, expect, test } from '@jest/globals';
import { CLAIM_MS } from '@waybell/line/waiting-room/waiting-store';
import { Unavailable } from '@waybell/runtime/unavailable';
import { aRow, aTarget, roomOf, SomeDeliverers, TARGET, type Answers } from '../testing/waiting.ts';
import { ENDPOINTS } from '../testing/endpoints.ts';
import { Endpoints } from './endpoints.ts';
import { Rooms } from './rooms.ts';

const ROOM = roomOf(TARGET);
const LATER = 3_600_000;

/** Rooms alone; each input is applied by hand. */
function roomsOf({ clock }: SomeDeliverers) {
  const endpoints = new Endpoints({ ...ENDPOINTS, clock, end: () => undefined });
  const inHandLimit = { messages: 1_000, bytes: 2 ** 30 };
  const rooms = new Rooms({ endpoints, inHandLimit, maxAgeMs: LATER, clock, now: clock.now });
  const claim = (room: string, askedAt = clock.now()) =>
    rooms.claimed([{ room, changes: 0, crashes: 0 }], { claim: { kind: 'named', rooms: [room] }, askedAt });
  return { rooms, claim };
}

const numbered = (count: number) => Array.from({ length: count }, (_, place) => place);

describe('a deliverer with rooms', () => {
  test('takes a row within a second, once; settles it when it is acknowledged, and not before', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('one')]);
    await some.clock.runFor(1_000);
    const first = one.taken.get('one');
    await some.clock.runFor(10_000);
    expect([one.names, some.waiting.count, one.consumer.inHand()]).toEqual([['one'], 1, 1]);
    first?.acknowledge();
    await some.clock.runFor(1);
    expect([some.waiting.count, one.consumer.inHand()]).toEqual([0, 0]);
    await some.clock.runFor(1_000);
    expect(some.waiting.room(ROOM)).toBeUndefined();
  });

  test('takes again what was given back', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('one')]);
    await some.clock.runFor(1_000);
    one.taken.get('one')?.giveBack();
    await some.clock.runFor(5_000);
    expect([one.names, some.waiting.count]).toEqual([['one', 'one'], 1]);
  });

  test('does not settle a row that was put again while it was in hand, and takes it again', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    const row = aRow('one');
    await some.store.put([row]);
    await some.clock.runFor(1_000);
    await one.flow.tools.putDelivery({ kind: 'wait', row: { ...row, why: 'hung' } });
    one.taken.get('one')?.acknowledge();
    await some.clock.runFor(3_000);
    expect([one.names, some.waiting.count]).toEqual([['one', 'one'], 1]);
  });

  test('takes nothing before its time, and then at once, and asks no more often meanwhile', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('later', { afterMs: 60_000 }), aRow('now')]);
    await some.clock.runFor(5_000);
    one.taken.get('now')?.acknowledge();
    await some.clock.runFor(2_000);
    one.asked.clear();
    await some.clock.runFor(50_000);
    expect(one.names).toEqual(['now']);
    expect(one.asked.get('take') ?? 0).toBe(0);
    expect(one.asked.get('claim')).toBe(50);
    await some.clock.runFor(4_000);
    expect(one.names).toEqual(['now', 'later']);
  });

  test('takes nothing while the broker blocks or a dependency is away, and leaves its rooms', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.clock.runFor(1_000);
    await one.consumer.pause('away');
    await some.store.put([aRow('one')]);
    await some.clock.runFor(3_000);
    one.become('blocked');
    one.consumer.resume('away');
    await some.clock.runFor(3_000);
    expect([one.names, one.flow.figures().claimed]).toEqual([[], 0]);
    one.become('writable');
    await some.clock.runFor(100);
    expect(one.names).toEqual(['one']);
  });

  test('claims the room of an endpoint that it refused as soon as that has room', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.clock.runFor(1_000);
    const ends: (() => void)[] = [];
    const admit = () =>
      one.flow.admit({ account: 'a', endpoint: ROOM, host: 'h' }, 'suspect', (admission) => {
        if (admission.kind === 'granted') ends.push(() => admission.end('hung'));
      });
    admit();
    await some.clock.runFor(1_100);
    expect(one.flow.endpoints.isHung(ROOM)).toBe(true);
    admit();
    await some.store.put([aRow('one', { afterMs: LATER }), aRow('two')]);
    await some.store.claim({ kind: 'named', rooms: [ROOM] });
    await some.store.release([{ room: ROOM, afterMs: LATER, shutForMs: 1_000 }]);
    let isAnswered = false;
    one.flow.endpoints.probeSoon(ROOM);
    one.flow.admit({ account: 'a', endpoint: ROOM, host: 'h' }, 'by hand', (admission) => {
      if (admission.kind !== 'granted') return;
      isAnswered = true;
      admission.end('quick');
    });
    await some.clock.runFor(10);
    expect([isAnswered, one.names]).toEqual([true, ['two']]);
  });

  test('claims that room, too, where its endpoint got room while nothing might be taken', async () => {
    await using some = new SomeDeliverers();
    await some.store.put([aRow('one')]);
    await some.store.claim({ kind: 'named', rooms: [ROOM] });
    await some.store.release([{ room: ROOM, afterMs: LATER, shutForMs: 60_000 }]);
    const one = some.start();
    await some.clock.runFor(1_100);
    one.become('blocked');
    const key = { account: TARGET.account, endpoint: ROOM, host: 'h' };
    one.flow.admit(key, 'suspect', () => undefined);
    one.flow.endpoints.probeSoon(ROOM);
    one.flow.admit(key, 'by hand', (admission) => admission.kind === 'granted' && admission.end('quick'));
    await some.clock.runFor(3_000);
    expect(one.names).toEqual([]);
    one.become('writable');
    await some.clock.runFor(10);
    expect(one.names).toEqual(['one']);
  });

  test('looks for other rooms each second, though there is always a row to settle', async () => {
    await using some = new SomeDeliverers();
    const store = some.waiting.storeFor('slow');
    const settle: typeof store.settle = async (keys) => {
      await some.clock.sleep(50);
      return store.settle(keys);
    };
    const one = some.start({ store: { ...store, settle }, answers: () => ({ afterMs: 20 }) });
    await some.store.put(numbered(12_000).map((row) => aRow(`row ${row}`, { madeAt: row + 1 })));
    await some.clock.runFor(1_500);
    await some.store.put([aRow('other', { to: aTarget('other') })]);
    await some.clock.runFor(1_500);
    expect(some.waiting.count).toBeGreaterThan(1_000);
    expect(one.names).toContain('other');
  });

  test('is not held up by one that stays in hand, however much each weighs', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    const body = Buffer.alloc(700 * 2 ** 10);
    await some.store.put(['one', 'two', 'three'].map((name) => aRow(name, { body })));
    await some.clock.runFor(1_000);
    expect(one.names).toHaveLength(3);
  });

  test('has no more in hand than it may', async () => {
    await using some = new SomeDeliverers();
    const one = some.start({ inHandLimit: { messages: 10, bytes: 2 ** 30 } });
    for (const place of numbered(5)) {
      const to = aTarget(`t${place}`);
      await some.store.put(numbered(5).map((row) => aRow(`${place} ${row}`, { to })));
    }
    await some.clock.runFor(5_000);
    expect(one.consumer.inHand()).toBe(10);
  });

  test('puts a row of a room that killed three processes before the suspects, and no other with it', async () => {
    await using some = new SomeDeliverers();
    await some.store.put([aRow('first'), aRow('second', { madeAt: 2 })]);
    for (const died of ['a', 'b', 'c', 'd']) {
      await some.waiting.storeFor(died).claim({ kind: 'named', rooms: [ROOM] });
      some.clock.skipTo(some.clock.now() + CLAIM_MS);
    }
    const one = some.start();
    await some.clock.runFor(1_500);
    expect(one.names).toEqual(['first']);
    expect(one.taken.get('first')?.messages).toMatchObject([{ crashes: 4 }]);
    one.taken.get('first')?.acknowledge();
    await some.clock.runFor(1_500);
    expect(one.taken.get('second')?.messages).toMatchObject([{ crashes: 0 }]);
  });

  test('leaves a room to others where it has had no slot for two seconds', async () => {
    await using some = new SomeDeliverers();
    const one = some.start({ slots: 1 });
    const other = some.start();
    one.flow.admit({ account: 'a', endpoint: 'busy', host: 'busy' }, 'by hand', () => undefined);
    await other.consumer.pause('closing');
    await some.store.put([aRow('one')]);
    // From now on the other looks shortly before the first one does.
    await some.clock.runFor(1_900);
    expect(one.flow.figures().claimed).toBe(1);
    other.consumer.resume('closing');
    await some.clock.runFor(3_500);
    expect([one.names, other.names]).toEqual([[], ['one']]);
  });
});

describe('deliverers that share a waiting room', () => {
  test('take each row once, whoever comes and goes', async () => {
    await using some = new SomeDeliverers();
    const answers: Answers = () => ({ afterMs: 50 });
    const first = some.start({ answers });
    const rooms = numbered(20).map((place) => aTarget(`t${place}`));
    const rows = rooms.flatMap((to, place) =>
      numbered(200).map((row) => aRow(`${place} ${row}`, { to, madeAt: row + 1 })),
    );
    await some.store.put(rows);
    await some.clock.runFor(1_500);
    some.start({ answers });
    await some.clock.runFor(1_000);
    void first.stop();
    await some.clock.runFor(10_000);
    expect([some.waiting.count, some.twice]).toEqual([0, []]);
    expect(some.names.toSorted()).toEqual(rows.map(({ id }) => id.slice(0, -2)).toSorted());
  });

  test('have the limits of an endpoint whole where they claimed its room, and divide those of others', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    some.living = 4;
    await some.store.put([aRow('one')]);
    await some.clock.runFor(6_000);
    const begun = (endpoint: string) => {
      let count = 0;
      const key = { account: TARGET.account, endpoint, host: endpoint };
      for (const _ of numbered(10)) one.flow.admit(key, 'by hand', ({ kind }) => (count += Number(kind === 'granted')));
      return count;
    };
    expect([begun(ROOM), begun('other')]).toEqual([4, 1]);
    expect(one.flow.deliverers).toBe(4);
  });

  test('never have a row in hand twice: a room stays claimed while one is, whatever its endpoint does', async () => {
    await using some = new SomeDeliverers();
    const answers: Answers = () => ({ afterMs: 60_000, isHung: true });
    const [one, other] = [some.start({ answers }), some.start({ answers })];
    await some.store.put(numbered(10).map((row) => aRow(`row ${row}`, { madeAt: row + 1 })));
    await some.clock.runFor(1_000);
    const [holder, idle] = one.names.length > 0 ? [one, other] : [other, one];
    await some.clock.runFor(50_000);
    expect([holder.flow.endpoints.isHung(ROOM), idle.names, holder.cut]).toEqual([true, [], []]);
    expect(some.twice).toEqual([]);
  });

  test('leave the room of an endpoint that hangs until its next probe, with since when it hangs', async () => {
    await using some = new SomeDeliverers();
    const one = some.start({ answers: () => ({ afterMs: 500, isHung: true }) });
    await some.store.put(numbered(100).map((row) => aRow(`row ${row}`, { madeAt: row + 1 })));
    await some.clock.runFor(19_000);
    for (let steps = 0; steps < 20 && some.waiting.room(ROOM)?.claimedBy !== undefined; steps += 1)
      await some.clock.runFor(100);
    const { claimedBy, lookAt = 0, shutSince } = some.waiting.room(ROOM) ?? {};
    expect([claimedBy, one.flow.figures().claimed]).toEqual([undefined, 0]);
    expect(shutSince).toBe(one.flow.endpoints.hungSince(ROOM));
    expect(shutSince).toBeLessThan(1_000);
    expect(lookAt - some.clock.now()).toBeGreaterThan(0);
    const before = one.names.length;
    await some.clock.runFor(lookAt - some.clock.now() - 1);
    expect(one.names).toHaveLength(before);
    await some.clock.runFor(1_100);
    expect(one.names).toHaveLength(before + 1);
  });

  test('take over what another leaves within a second, and what one that died had when its claim is over', async () => {
    await using some = new SomeDeliverers();
    const [one, dead] = [some.start(), some.waiting.storeFor('dead')];
    const to = aTarget('dead');
    await some.store.put([aRow('one'), aRow('two', { to })]);
    await dead.claim({ kind: 'named', rooms: [roomOf(to)] });
    await some.clock.runFor(1_000);
    const other = some.start();
    await some.clock.runFor(1_000);
    one.taken.get('one')?.giveBack();
    await one.stop();
    await some.clock.runFor(1_000);
    expect(other.names).toEqual(['one']);
    await some.clock.runFor(CLAIM_MS - 3_100);
    expect(other.names).toEqual(['one']);
    await some.clock.runFor(1_200);
    expect(other.names).toEqual(['one', 'two']);
  });

  test('ask a room that was shut with one row first, however well they know its endpoint', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    const key = { account: TARGET.account, endpoint: ROOM, host: 'h' };
    const answersOne = () => one.flow.admit(key, 'waited', (each) => each.kind === 'granted' && each.end('quick'));
    for (const _ of numbered(50)) answersOne();
    await some.clock.runFor(100_000);
    await some.store.put(numbered(50).map((row) => aRow(`row ${row}`, { madeAt: row + 1 })));
    await some.store.claim({ kind: 'named', rooms: [ROOM] });
    await some.store.release([{ room: ROOM, afterMs: 0, shutForMs: 60_000 }]);
    await some.clock.runFor(3_000);
    expect(one.names).toEqual(['row 0']);
    answersOne();
    one.taken.get('row 0')?.acknowledge();
    await some.clock.runFor(100);
    expect(one.names.length).toBeGreaterThan(8);
  });

  test('begin with what others found: an endpoint whose room is shut hangs, and is probed by one', async () => {
    await using some = new SomeDeliverers();
    await some.store.put([aRow('one')]);
    await some.store.claim({ kind: 'named', rooms: [ROOM] });
    await some.store.release([{ room: ROOM, afterMs: LATER, shutForMs: 60_000 }]);
    const one = some.start();
    await some.clock.runFor(1_000);
    one.flow.admit({ account: 'a', endpoint: ROOM, host: 'h' }, 'suspect', () => undefined);
    expect(some.clock.now() - (one.flow.endpoints.hungSince(ROOM) ?? 0)).toBe(61_000);
    await some.clock.runFor(3_000);
    expect(one.names).toEqual([]);
  });
});

describe('a claim', () => {
  test('that could not be renewed holds nothing when it is over, before any other may have it', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('one')]);
    await some.clock.runFor(1_000);
    some.waiting.isAway = true;
    expect(one.holds('one')).toBe(true);
    await some.clock.runFor(CLAIM_MS);
    expect([one.cut, one.holds('one')]).toEqual([['one'], false]);
    some.waiting.isAway = false;
    one.taken.get('one')?.acknowledge();
    await some.clock.runFor(1);
    expect(some.waiting.count).toBe(1);
  });

  test('is known to be over at once by a process that stood still', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.store.put([aRow('one')]);
    await some.clock.runFor(1_000);
    one.isFrozen = true;
    const other = some.start();
    await some.clock.runFor(2 * CLAIM_MS);
    expect(other.names).toEqual(['one']);
    expect(one.holds('one')).toBe(false);
    expect(one.cut).toEqual(['one']);
    one.taken.get('one')?.acknowledge();
    one.isFrozen = false;
    await some.clock.runFor(1_000);
    expect([some.waiting.count, other.holds('one'), other.cut]).toEqual([1, true, []]);
  });

  test('is over at its own time, though others were claimed since', async () => {
    await using some = new SomeDeliverers();
    const { rooms, claim } = roomsOf(some);
    claim(ROOM);
    await some.clock.runFor(1_000);
    claim(roomOf(aTarget('two')));
    some.clock.skipTo(CLAIM_MS);
    rooms.expire();
    expect([...rooms.all()].map(({ room }) => room)).toEqual([roomOf(aTarget('two'))]);
    expect(rooms.claimsEndAt).toBe(CLAIM_MS + 1_000);
  });

  test('is none of a process that hears of it when it is over', async () => {
    await using some = new SomeDeliverers();
    const store = some.waiting.storeFor('slow');
    const claim: typeof store.claim = async (what) => {
      const claimed = await store.claim(what);
      await some.clock.sleep(CLAIM_MS);
      return claimed;
    };
    const slow = some.start({ store: { ...store, claim } });
    await some.store.put([aRow('one')]);
    await some.clock.runFor(CLAIM_MS);
    const other = some.start();
    await some.clock.runFor(CLAIM_MS);
    expect([slow.names, other.names]).toEqual([[], ['one']]);
  });

  test('is given up with the room, though no answer comes: another process may have that by then', async () => {
    await using some = new SomeDeliverers();
    const release = () => Promise.reject(new Unavailable('postgres', () => Promise.resolve()));
    const one = some.start({ store: { ...some.waiting.storeFor('one'), release } });
    await some.store.put([aRow('one')]);
    await some.clock.runFor(500);
    expect(one.flow.figures().claimed).toBe(1);
    one.taken.get('one')?.acknowledge();
    await some.clock.runFor(2_500);
    expect(one.flow.figures().claimed).toBe(0);
  });

  test('stays where the answer of an older renewal comes late', async () => {
    await using some = new SomeDeliverers();
    const { rooms, claim } = roomsOf(some);
    claim(ROOM);
    await some.clock.runFor(CLAIM_MS - 1);
    const [asked, askedAt] = [rooms.toRenew(), some.clock.now()];
    await some.clock.runFor(1);
    rooms.expire();
    claim(ROOM);
    const again = rooms.get(ROOM);
    rooms.renewed(asked, [], askedAt);
    expect(rooms.get(ROOM)).toBe(again);
  });

  test('is kept however long it takes to sum up what waits', async () => {
    await using some = new SomeDeliverers();
    const store = some.waiting.storeFor('slow');
    const sumsBeyond: typeof store.sumsBeyond = async (limits) => {
      await some.clock.sleep(10 * CLAIM_MS);
      return store.sumsBeyond(limits);
    };
    const one = some.start({ store: { ...store, sumsBeyond } });
    await some.store.put([aRow('one')]);
    await some.clock.runFor(2 * CLAIM_MS);
    one.taken.get('one')?.acknowledge();
    await some.store.put([aRow('two')]);
    await some.clock.runFor(2_500);
    expect([one.names, one.cut]).toEqual([['one', 'two'], []]);
  });
});
