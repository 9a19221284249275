import { describe, expect, test } from '@jest/globals';
import { publishInstead } from '@waybell/line/delivery';
import type { Waiting } from '@waybell/line/messages';
import { aRow, SomeDeliverers } from '../testing/waiting.ts';

const waits = (name = 'one'): Waiting => ({ kind: 'wait', row: aRow(name) });

function setUp() {
  const some = new SomeDeliverers();
  const { clock, waiting, store } = some;
  const puts: { put: typeof store.put } = { put: store.put };
  const one = some.start({ store: { ...store, put: (rows) => puts.put(rows) } });
  const { published, flow } = one;
  const deliveries = { put: flow.tools.putDelivery, retain: flow.rules.retain, isAway: () => flow.figures().isAway };
  return { clock, waiting, store, published, deliveries, puts, one };
}

describe('what is to wait for its endpoint', () => {
  test('is put into its room, and nowhere else', async () => {
    const { waiting, published, deliveries } = setUp();
    await deliveries.put(waits());
    expect([waiting.count, published]).toEqual([1, []]);
  });

  test('waits in a queue while Postgres is away, as one that may be in its room', async () => {
    const { waiting, published, deliveries } = setUp();
    waiting.isAway = true;
    await deliveries.put(waits());
    expect([deliveries.isAway(), published]).toEqual([true, [publishInstead(waits())]]);
  });

  test('waits in a queue too where it is not known to be put after a second', async () => {
    const { clock, published, deliveries, puts } = setUp();
    puts.put = () => new Promise(() => undefined);
    const done = deliveries.put(waits());
    await clock.runFor(999);
    expect(published).toEqual([]);
    await clock.runFor(1);
    expect(published).toHaveLength(1);
    await done;
  });

  test('waits in a queue for as long as Postgres stands still, and piles up nowhere else', async () => {
    const { clock, published, deliveries, puts } = setUp();
    const answer = Promise.withResolvers<number[]>();
    let asked = 0;
    puts.put = async (rows) => {
      asked += rows.length;
      return answer.promise;
    };
    const first = deliveries.put(waits());
    await clock.runFor(1_000);
    await first;
    for (let second = 0; second < 60; second += 1) {
      void deliveries.put(waits(`at ${second}`));
      await clock.runFor(1_000);
    }
    expect([asked, published.length, deliveries.isAway()]).toEqual([1, 61, true]);
    answer.resolve([0]);
    await clock.runFor(1_000);
    expect(deliveries.isAway()).toBe(false);
  });

  test('is known to be in its room, but while Postgres is away: then it is attempted, and not waited for', async () => {
    const { clock, waiting, deliveries } = setUp();
    const { row } = waits();
    await deliveries.put(waits());
    expect(await deliveries.retain(row)).toBe(true);
    waiting.isAway = true;
    expect(await deliveries.retain(row)).toBe(false);
    waiting.isAway = false;
    await clock.runFor(1_000);
    expect(await deliveries.retain({ ...row, id: 'one 2' })).toBe(false);
  });

  test('is taken at once where its endpoint got room while it was being put', async () => {
    const { clock, store, deliveries, puts, one } = setUp();
    const { account = '', room } = waits().row;
    const end = await new Promise<() => void>((resolve) =>
      one.flow.admit({ account, endpoint: room, host: 'h' }, 'suspect', (admission) => {
        if (admission.kind === 'granted') resolve(() => admission.end('quick'));
      }),
    );
    await clock.runFor(900);
    // It hangs.
    one.flow.admit({ account, endpoint: room, host: 'h' }, 'fresh', () => undefined);
    await clock.runFor(200);
    puts.put = async (rows) => {
      await clock.sleep(100);
      return store.put(rows);
    };
    const put = deliveries.put(waits());
    await clock.runFor(50);
    end();
    await clock.runFor(60);
    await put;
    expect(one.names).toEqual(['one']);
  });
});
