import { describe, expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unroutable } from '../publish-errors.ts';
import { KeptPublications, type KeptOptions } from './kept-publications.ts';
import { MemoryKept } from './testing/memory-kept.ts';
import { aPublication, SomeBroker } from './testing/some-broker.ts';

const silent = { info: () => undefined, warn: () => undefined };

/** A process that keeps publications in memory; `at` turns its clock. */
function aKeeper(broker = new SomeBroker('blocked'), log: KeptOptions['log'] = silent) {
  const clock = new TurnedClock();
  const store = new MemoryKept(clock);
  const kept = new KeptPublications({ store, broker, mostBytes: 2 ** 30, log, clock });
  const keepAll = (key: string, bodies: readonly string[]) =>
    Promise.all(bodies.map((body) => kept.keep(aPublication(key, body))));
  return { clock, store, kept, broker, keepAll };
}

const numbers = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const missing = new Unroutable(aPublication('missing', ''));

describe('a destination that takes nothing', () => {
  test('holds up no other, and is asked with one message, later each time, until it takes that', async () => {
    const { clock, store, broker, keepAll } = aKeeper();
    await keepAll('missing', numbers('m', 50));
    await keepAll('fine', numbers('f', 300));
    broker.refused.set('missing', missing);
    broker.become('writable');
    await clock.runFor(0);
    expect([broker.taken.length, store.size]).toEqual([300, 50]);
    const asked = () => broker.asked.filter((body) => body.startsWith('m')).length;
    expect(asked()).toBe(50);
    const asks: number[] = [];
    for (let before = asked(); asks.length < 8; before = asked()) {
      while (asked() === before) await clock.runFor(500);
      expect(asked()).toBe(before + 1);
      asks.push(clock.now() / 1_000);
    }
    expect(asks).toEqual([1, 3, 7, 15, 30, 45, 60, 75]);
    broker.refused.delete('missing');
    await clock.runFor(60_000);
    expect([broker.taken.length, store.size]).toEqual([350, 0]);
  });

  test('is found out by one message, where it was kept for while the broker takes others', async () => {
    const { clock, store, broker, keepAll } = aKeeper(new SomeBroker());
    const never = Promise.withResolvers<void>();
    broker.refused.set('stalled', never.promise);
    await keepAll('stalled', numbers('s', 20));
    await keepAll('fine', ['f']);
    await clock.runFor(999);
    expect(broker.asked).toEqual([]);
    await clock.runFor(60_000);
    await keepAll('fine', ['g']);
    await clock.runFor(60_000);
    expect(broker.bodies).toEqual(['f', 'g']);
    expect(broker.asked).toEqual(['s0', 'f', 'g']);
    never.resolve();
    await clock.runFor(0);
    expect([broker.taken.length, store.size]).toEqual([22, 0]);
  });

  test('is not asked while the broker is away, and at once when it comes back', async () => {
    const { clock, broker, keepAll } = aKeeper();
    await keepAll('a', ['1']);
    broker.refused.set('a', missing);
    broker.become('writable');
    await clock.runFor(40_000);
    const before = broker.asked.length;
    broker.become('away');
    await clock.runFor(40_000);
    expect(broker.asked).toHaveLength(before);
    broker.refused.clear();
    broker.become('writable');
    await clock.runFor(0);
    expect(broker.bodies).toEqual(['1']);
  });

  test('is not what one message is that no queue takes: the others of its destination go', async () => {
    const { clock, store, broker, keepAll } = aKeeper();
    await keepAll('a', ['guilty', ...numbers('a', 400)]);
    broker.refusedBodies.set('guilty', new Error('a message of 17 MiB'));
    broker.become('writable');
    await clock.runFor(0);
    expect([broker.taken.length, store.size]).toEqual([400, 1]);
    expect(broker.asked.filter((body) => body === 'guilty')).toHaveLength(1);
  });

  test('gives its place to the next message, should it be the message that is at fault', async () => {
    const { clock, broker, keepAll } = aKeeper(new SomeBroker());
    broker.refusedBodies.set('guilty', new Error('a message of 17 MiB'));
    await keepAll('a', ['guilty', '1', '2']);
    await clock.runFor(2_000);
    expect(broker.asked).toEqual(['guilty']);
    await clock.runFor(1_000);
    expect(broker.bodies).toEqual(['1', '2']);
  });
});

test('deliveries that were kept for one queue are sent on in batches, and each is counted', async () => {
  const { clock, store, kept, broker } = aKeeper();
  const delivery = (body: string) => aPublication('d', body, { deliveries: true, messageId: body, note: `1 ${body}` });
  await Promise.all(numbers('d', 20).map((body) => kept.keep(delivery(body))));
  await kept.keep(aPublication('d', 'no delivery'));
  broker.become('writable');
  await clock.runFor(0);
  expect(broker.taken.map(({ note }) => note)).toEqual(['1 16', '1 4', undefined]);
  expect([kept.figures().sentOnTotal, store.size]).toEqual([21, 0]);
});

test('what is kept and that it was sent on is told once, and what is missing with what makes it', async () => {
  const lines: unknown[][] = [];
  const tell = (...line: unknown[]) => void lines.push(line);
  const log = { info: tell, warn: tell };
  const { clock, broker, keepAll } = aKeeper(new SomeBroker('blocked'), log);
  await keepAll('a', ['1', '2', '3']);
  broker.refused.set('a', missing);
  broker.become('writable');
  await clock.runFor(30_000);
  broker.refused.clear();
  await clock.runFor(60_000);
  expect(lines).toMatchObject([
    [{ exchange: 'waybell.deliveries', routingKey: 'a' }, 'publications.kept'],
    [{ reason: expect.stringMatching(/"missing": .*waybell declare/) }, 'publications.not-sent-on'],
    [{ sentOnTotal: 3 }, 'publications.sent-on'],
  ]);
});
