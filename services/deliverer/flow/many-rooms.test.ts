import { describe, expect, test } from '@jest/globals';
import { aRow, aTarget, roomOf, SomeDeliverers, TARGET, type Answers } from '../testing/waiting.ts';

const ROOM = roomOf(TARGET);
const rowsOf = (count: number, name: string, to = TARGET) =>
  Array.from({ length: count }, (_, at) => aRow(`${name} ${at}`, { to, madeAt: at + 1 }));

describe('one of many rooms', () => {
  test('is drained at once where its endpoint is back, beside 100,000 that wait for one that is not', async () => {
    await using some = new SomeDeliverers();
    const dead = roomOf(aTarget('dead'));
    const answers: Answers = (room) => (room === dead ? { afterMs: 3_000, isHung: true } : { afterMs: 20 });
    await some.store.put([...rowsOf(100_000, 'dead', aTarget('dead')), ...rowsOf(1_000, 'back')]);
    await some.store.claim({ kind: 'named', rooms: [ROOM, dead] });
    await some.store.release([ROOM, dead].map((room) => ({ room, afterMs: 0, shutForMs: 60_000 })));
    const all = [some.start({ answers }), some.start({ answers })];
    await some.clock.runFor(5_000);
    expect(some.waiting.room(ROOM)).toBeUndefined();
    expect(all.flatMap(({ names }) => names).filter((name) => name.startsWith('dead')).length).toBeLessThan(5);
    expect(some.twice).toEqual([]);
  });

  test('is taken within a second though 20,000 that are shut were due before', async () => {
    await using some = new SomeDeliverers();
    const shut = Array.from({ length: 20_000 }, (_, at) => aTarget(`shut-${at}`));
    await some.store.put(shut.map((to, at) => aRow(`shut ${at}`, { to })));
    for (let first = 0; first < shut.length; first += 5_000) {
      const rooms = shut.slice(first, first + 5_000).map(roomOf);
      await some.store.claim({ kind: 'named', rooms });
      await some.store.release(rooms.map((room) => ({ room, afterMs: 0, shutForMs: 3_600_000 })));
    }
    await some.clock.runFor(1);
    await some.store.put([aRow('open')]);
    const one = some.start({
      answers: (room) => (room === ROOM ? { afterMs: 10 } : { afterMs: 60_000, isHung: true }),
    });
    await some.clock.runFor(1_000);
    expect(one.names).toContain('open');
    // The number of rooms that may be probed.
    expect(one.flow.figures().claimed).toBeLessThanOrEqual(102);
    await some.clock.runFor(2_000);
    expect(one.names.length).toBeLessThanOrEqual(1 + 102);
  });

  test('is had by one account no more than 64 times at once', async () => {
    await using some = new SomeDeliverers();
    const of = (account: string) => Array.from({ length: 200 }, (_, at) => aTarget(`${account}-${at}`, { account }));
    const [many, other] = ['0b9c2f6e-7d1f-4e57-8f5e-0000000000aa', '0b9c2f6e-7d1f-4e57-8f5e-0000000000bb'];
    await some.store.put(of(many).map((to, at) => aRow(`many ${at}`, { to })));
    await some.clock.runFor(1);
    await some.store.put(
      of(other)
        .slice(0, 9)
        .map((to, at) => aRow(`other ${at}`, { to })),
    );
    const one = some.start();
    await some.clock.runFor(1_000);
    expect(one.names.filter((name) => name.startsWith('other'))).toHaveLength(9);
    expect(one.names.filter((name) => name.startsWith('many')).length).toBeLessThanOrEqual(100);
  });

  test('is not left out for as long as endpoints that are slow have more than may be in hand', async () => {
    await using some = new SomeDeliverers();
    const slow = Array.from({ length: 40 }, (_, at) => aTarget(`slow-${at}`));
    await some.store.put(slow.flatMap((to, at) => rowsOf(200, `${at}`, to)));
    const answers: Answers = (room) => ({ afterMs: room === ROOM ? 10 : 5_000 });
    const one = some.start({ answers, inHandLimit: { messages: 100, bytes: 2 ** 30 } });
    await some.clock.runFor(10_000);
    expect(one.consumer.inHand()).toBe(100);
    await some.store.put([aRow('one')]);
    await some.clock.runFor(10_000);
    expect(one.names).toContain('one');
  });

  test('is not left out for as long as others have more than may be claimed at once, of all or of its account', async () => {
    await using some = new SomeDeliverers();
    const accountOf = (at: number) => `0b9c2f6e-7d1f-4e57-8f5e-${String(at).padStart(12, '0')}`;
    const [full] = [accountOf(1_000)];
    const others = Array.from({ length: 500 }, (_, at) => aTarget(`other-${at}`, { account: accountOf(at) }));
    const own = Array.from({ length: 64 }, (_, at) => aTarget(`own-${at}`, { account: full }));
    await some.store.put([...own, ...others].flatMap((to, at) => rowsOf(100, `${at}`, to)));
    const one = some.start({
      answers: () => ({ afterMs: 900 }),
      inHandLimit: { messages: 600, bytes: 2 ** 30 },
      slots: 8_000,
    });
    await some.clock.runFor(5_000);
    await some.store.put([aRow('of all'), aRow('of its account', { to: aTarget('last', { account: full }) })]);
    await some.clock.runFor(30_000);
    expect(one.names).toEqual(expect.arrayContaining(['of all', 'of its account']));
    expect(some.twice).toEqual([]);
  });

  test('costs little while no more may be in hand: what is freed has no other asked', async () => {
    await using some = new SomeDeliverers();
    const many = Array.from({ length: 200 }, (_, at) => aTarget(`t${at}`));
    await some.store.put(many.flatMap((to, at) => rowsOf(20, `${at}`, to)));
    const one = some.start({ inHandLimit: { messages: 100, bytes: 2 ** 30 } });
    await some.clock.runFor(9_000);
    const { endpoints } = one.flow;
    const demand = endpoints.demand.bind(endpoints);
    let asked = 0;
    endpoints.demand = (key) => {
      asked += 1;
      return demand(key);
    };
    await some.clock.runFor(1_500);
    asked = 0;
    for (const source of [...one.taken.values()].slice(0, 50)) {
      source.acknowledge();
      await some.clock.runFor(1);
    }
    expect(one.names).toHaveLength(150);
    expect(asked).toBeLessThan(1_000);
  });

  test('costs nothing while there is none: two small statements a second', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.clock.runFor(1_000);
    one.asked.clear();
    await some.clock.runFor(10_000);
    expect(Object.fromEntries(one.asked)).toEqual({
      claim: 10,
      shutRooms: 10,
      lookAfterHeld: 1,
      flushSums: 10,
      sumsBeyond: 1,
    });
  });
});
