import { describe, expect, test } from '@jest/globals';
import type { Parked, Publication } from '@waybell/line/messages';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { aRow, ENDPOINT } from '../testing/parked.ts';
import { Park } from './park.ts';
import { SumChanges } from './sum-changes.ts';
import { MemoryParking } from './testing/memory-parking.ts';

const WAITS: Publication = { kind: 'publish', exchange: 'waiting', routingKey: 'key', body: Buffer.from('{}') };
const parked = (what: Partial<Parked> = {}): Parked => ({
  kind: 'park',
  row: aRow('one'),
  account: ENDPOINT.account,
  otherwise: WAITS,
  ...what,
});

function setUp() {
  const clock = new TurnedClock();
  const store = new MemoryParking({ now: clock.now, whose: () => ENDPOINT });
  const published: Publication[] = [];
  const broker = { state: () => 'writable' as const, publish: async (each: Publication) => void published.push(each) };
  const sets = { inserts: store.insert.bind(store) };
  const insert: typeof sets.inserts = (rows) => sets.inserts(rows);
  const has = store.has.bind(store);
  const park = new Park({ store: { insert, has }, broker, sums: new SumChanges(), clock, onParked: () => undefined });
  return { clock, store, published, park, sets };
}

describe('what is to wait for its endpoint', () => {
  test('is parked, and nothing else', async () => {
    const { store, published, park } = setUp();
    await park.park(parked());
    expect([store.count, published]).toEqual([1, []]);
  });

  test('waits in a queue while Postgres is away', async () => {
    const { store, published, park } = setUp();
    store.isAway = true;
    await park.park(parked());
    expect([park.isAway, published]).toEqual([true, [WAITS]]);
  });

  test('waits in a queue too where it is not known to be parked after a second', async () => {
    const { clock, published, park, sets } = setUp();
    sets.inserts = () => new Promise(() => undefined);
    const done = park.park(parked());
    await clock.runFor(999);
    expect(published).toEqual([]);
    await clock.runFor(1);
    expect(published).toEqual([WAITS]);
    await done;
  });

  test('waits in a queue for as long as Postgres stands still, and piles up nowhere else', async () => {
    const { clock, published, park, sets } = setUp();
    const answer = Promise.withResolvers<void>();
    let asked = 0;
    sets.inserts = async (rows) => {
      asked += rows.length;
      return answer.promise;
    };
    const first = park.park(parked());
    await clock.runFor(1_000);
    await first;
    for (let second = 0; second < 60; second += 1) {
      void park.park(parked({ row: aRow(`at ${second}`) }));
      await clock.runFor(1_000);
    }
    expect([asked, published.length, park.isAway]).toEqual([1, 61, true]);
    answer.resolve();
    await clock.runFor(1_000);
    expect(park.isAway).toBe(false);
  });

  test('is known to be parked already, but while Postgres is away: then it is attempted, and not waited for', async () => {
    const { clock, store, park } = setUp();
    const { row } = parked();
    await park.park(parked());
    expect(await park.isParked(row)).toBe(true);
    store.isAway = true;
    expect(await park.isParked(row)).toBe(false);
    store.isAway = false;
    await clock.runFor(1_000);
    expect(await park.isParked({ ...row, hop: row.hop + 1 })).toBe(false);
  });
});
