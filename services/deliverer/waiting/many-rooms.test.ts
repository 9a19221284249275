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
    // As many as may be probed.
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

  test('costs nothing while there is none: two small statements a second', async () => {
    await using some = new SomeDeliverers();
    const one = some.start();
    await some.clock.runFor(1_000);
    one.asked.clear();
    await some.clock.runFor(10_000);
    expect(Object.fromEntries(one.asked)).toEqual({ claim: 10, shutRooms: 10, flushSums: 10, sumsBeyond: 1 });
  });
});
