import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { Unroutable } from '../messages.ts';
import { MemoryWaiting } from './testing/memory-waiting-store.ts';
import { aPublication, SomeBroker } from './testing/some-broker.ts';
import type { WaitingStore } from './waiting-store.ts';
import { WaitingMetrics } from './waiting-metrics.ts';
import { roomOf, WaitingPublications, type WaitingPublicationsOptions } from './waiting-publications.ts';
import { aDelivery } from '../testing/a-delivery.ts';

const silent = { info: () => undefined, warn: () => undefined };

type Sender = { broker?: SomeBroker; log?: WaitingPublicationsOptions['log']; mostBytes?: number };

/** One service: its room in memory, and processes by the same clock. */
function aService() {
  const clock = new TurnedClock();
  const room = new MemoryWaiting(clock.now);
  let last = 0;
  const start = ({ broker = new SomeBroker('blocked'), log = silent, mostBytes = 2 ** 30 }: Sender = {}) => {
    const store = room.storeFor(`process ${(last += 1)}`);
    const registry = createMetrics('test');
    const metrics = new WaitingMetrics(registry, clock.now);
    const options = { store, broker, mostBytes, metrics, log, clock, now: clock.now };
    const publications = new WaitingPublications(options);
    const putAll = (key: string, bodies: readonly string[]) =>
      Promise.all(bodies.map((body) => publications.put(aPublication(key, body))));
    return { broker, publications, putAll, registry, store };
  };
  return { clock, room, start };
}

/** One process of a service. */
function aProcess(how: Sender = {}) {
  const service = aService();
  return { ...service, ...service.start(how) };
}

const numbers = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const missing = new Unroutable(aPublication('missing', ''));
const roomOfKey = (key: string) => roomOf(aPublication(key, ''));

describe('a destination that takes nothing', () => {
  test('holds up no other, and is asked with one message, later each time, until it takes that', async () => {
    const { clock, room, broker, putAll } = aProcess();
    await putAll('missing', numbers('m', 50));
    await putAll('fine', numbers('f', 300));
    broker.refused.set('missing', missing);
    broker.become('writable');
    await clock.runFor(0);
    expect([broker.taken.length, room.count]).toEqual([300, 50]);
    const asked = () => broker.asked.filter((body) => body.startsWith('m')).length;
    expect(asked()).toBe(1);
    const pauses: number[] = [];
    for (let [before, at] = [asked(), clock.now()]; at < 120_000; before = asked()) {
      while (asked() === before) await clock.runFor(250);
      expect(asked()).toBe(before + 1);
      pauses.push(clock.now() - at);
      at = clock.now();
    }
    expect(pauses[0]).toBe(1_000);
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect(pauses.at(-1)).toBe(15_000);
    expect(pauses.length).toBeLessThan(30);
    broker.refused.delete('missing');
    await clock.runFor(60_000);
    expect([broker.taken.length, room.count]).toEqual([350, 0]);
  });

  test('is found out by one message, where messages wait for it while the broker takes others', async () => {
    const { clock, room, broker, putAll } = aProcess({ broker: new SomeBroker() });
    const never = Promise.withResolvers<void>();
    broker.refused.set('stalled', never.promise);
    await clock.runFor(0);
    await putAll('stalled', numbers('s', 20));
    await putAll('fine', ['f']);
    await clock.runFor(999);
    expect(broker.asked).toEqual([]);
    await clock.runFor(60_000);
    await putAll('fine', ['g']);
    await clock.runFor(60_000);
    expect(broker.bodies).toEqual(['f', 'g']);
    expect(broker.asked).toEqual(['s0', 'f', 'g']);
    never.resolve();
    await clock.runFor(0);
    expect([broker.taken.length, room.count]).toEqual([22, 0]);
  });

  test('is not asked while the broker is away, and at once when it comes back', async () => {
    const { clock, broker, putAll } = aProcess();
    await putAll('a', ['1', '2', '3']);
    broker.refused.set('a', missing);
    broker.become('writable');
    await clock.runFor(60_000);
    broker.become('away');
    const before = broker.asked.length;
    await clock.runFor(60_000);
    expect(broker.asked).toHaveLength(before);
    broker.become('writable');
    await clock.runFor(0);
    expect(broker.asked).toHaveLength(before + 1);
    broker.become('blocked');
    broker.refused.clear();
    broker.become('writable');
    await clock.runFor(0);
    // One of them is postponed: it failed alone.
    expect(broker.bodies).toHaveLength(2);
  });

  test('is not what one message is that no queue takes: the others of its destination go', async () => {
    const { clock, room, broker, putAll } = aProcess();
    await putAll('a', ['a', 'guilty', ...numbers('a', 400)]);
    broker.refusedBodies.set('guilty', new Error('a message of 17 MiB'));
    broker.become('writable');
    await clock.runFor(0);
    expect([broker.taken.length, room.count]).toEqual([401, 1]);
    expect(broker.asked.filter((body) => body === 'guilty')).toHaveLength(1);
    await clock.runFor(25_000);
    expect(broker.asked.filter((body) => body === 'guilty')).toHaveLength(1);
    broker.refusedBodies.clear();
    await clock.runFor(20_000);
    expect(room.count).toBe(0);
  });

  test('gives its place to the next message, should it be the message that is at fault', async () => {
    const { clock, broker, putAll } = aProcess({ broker: new SomeBroker() });
    broker.refusedBodies.set('guilty', new Error('a message of 17 MiB'));
    await clock.runFor(0);
    await putAll('a', ['guilty', '1', '2']);
    await clock.runFor(1_500);
    expect(broker.asked).toEqual(['guilty']);
    await clock.runFor(500);
    expect(broker.bodies).toEqual(['1', '2']);
  });
});

describe('what waits', () => {
  test('with a delay goes when that is over, and not before', async () => {
    const { clock, broker, publications } = aProcess({ broker: new SomeBroker() });
    const later = { afterMs: 4_000, exchange: 'waybell.deliveries', routingKey: 'a' };
    await publications.put(aPublication('a.later', '1', { ifKept: later }));
    await clock.runFor(3_999);
    expect(broker.asked).toEqual([]);
    await clock.runFor(250);
    expect(broker.taken).toEqual([aPublication('a', '1')]);
  });

  test('goes in batches where it is deliveries for one queue, and each is counted', async () => {
    const { clock, room, publications, broker, registry } = aProcess();
    const delivery = (body: string) => aPublication('d', body, { delivery: aDelivery({ guid: body }) });
    await Promise.all(numbers('d', 21).map((body) => publications.put(delivery(body))));
    await publications.put(aPublication('d', 'no delivery'));
    broker.become('writable');
    await clock.runFor(0);
    expect(broker.taken.map(({ note }) => note)).toEqual(['1 1', '1 16', '1 4', undefined]);
    expect(room.count).toBe(0);
    const shown = await registry.metrics();
    expect(shown).toMatch(/waybell_waiting_put_total\{why="broker",.*\} 22\n/);
    expect(shown).toMatch(/waybell_waiting_taken_total\{of="destinations",.*\} 22\n/);
  });

  test('is told once, also that it was sent, and what is missing with what makes it', async () => {
    const lines: unknown[][] = [];
    const tell = (...line: unknown[]) => void lines.push(line);
    const { clock, broker, putAll } = aProcess({ log: { info: tell, warn: tell } });
    await putAll('a', ['1', '2', '3']);
    broker.refused.set('a', missing);
    broker.become('writable');
    await clock.runFor(30_000);
    broker.refused.clear();
    await clock.runFor(60_000);
    expect(lines).toMatchObject([
      [{ exchange: 'waybell.deliveries', routingKey: 'a' }, 'publications.waiting'],
      [{ reason: expect.stringMatching(/"missing": .*waybell declare/) }, 'publications.not-sent-on'],
      ['publications.sent-on'],
    ]);
  });

  test('is no more than may wait: beyond it a put is refused, until there is room', async () => {
    const { clock, broker, publications, putAll } = aProcess({ mostBytes: 10 });
    await putAll('a', ['12345', '67890']);
    const refused = await publications.put(aPublication('a', 'x')).catch((error: unknown) => error);
    if (!(refused instanceof Unavailable)) throw new Error('it was put');
    await expect(refused.probe()).rejects.toThrow('as much waits');
    broker.become('writable');
    await clock.runFor(0);
    await refused.probe();
    await publications.put(aPublication('a', 'x'));
  });

  test('is counted once, however often it is', async () => {
    const { clock, room, putAll } = aProcess({ mostBytes: 1_500 });
    await clock.runFor(0);
    await putAll('a', ['x'.repeat(600)]);
    await clock.runFor(20_000);
    await putAll('a', ['x'.repeat(600)]);
    await putAll('a', ['x']);
    expect(room.count).toBe(3);
  });

  test('counts with what other processes put, as long as it waits', async () => {
    const { clock, start } = aService();
    const [one, other] = [start(), start({ mostBytes: 1_000 })];
    await one.putAll('a', ['x'.repeat(1_000)]);
    await clock.runFor(60_000);
    await expect(other.putAll('a', ['y'])).rejects.toThrow(Unavailable);
    one.broker.become('writable');
    await clock.runFor(20_000);
    await other.putAll('a', ['y']);
  });
});

describe('what a minute costs', () => {
  /** Counts what the process asks its store. */
  const asked = (store: WaitingStore) => {
    const calls: Record<string, number> = {};
    for (const [name, ask] of Object.entries(store)) {
      Object.assign(store, {
        [name]: (...given: never[]) => {
          calls[name] = (calls[name] ?? 0) + 1;
          return Reflect.apply(ask, store, given);
        },
      });
    }
    return calls;
  };

  test('is one look in ten seconds while nothing waits', async () => {
    const { clock, store } = aProcess({ broker: new SomeBroker() });
    await clock.runFor(60_000);
    const calls = asked(store);
    await clock.runFor(60_000);
    expect(calls).toEqual({ claim: 6, figures: 1, flushSums: 1 });
  });

  test('is no more where what waits is not due', async () => {
    const { clock, room, store, broker, publications } = aProcess();
    const later = { afterMs: 3_600_000, exchange: 'waybell.deliveries', routingKey: 'a' };
    await publications.put(aPublication('a.later', '1', { ifKept: later }));
    broker.become('writable');
    await clock.runFor(60_000);
    const calls = asked(store);
    await clock.runFor(60_000);
    expect([calls, room.count]).toEqual([{ claim: 6, figures: 6, flushSums: 6 }, 1]);
  });
});

describe('of two processes', () => {
  test('each takes its own destinations, and nothing is sent twice', async () => {
    const { clock, room, start } = aService();
    const both = [start(), start()];
    for (const [which, { putAll }] of both.entries()) {
      await putAll('a', numbers(`a${which}.`, 250));
      await putAll(`b${which}`, numbers(`b${which}.`, 250));
    }
    for (const { broker } of both) broker.become('writable');
    await clock.runFor(1_000);
    const sent = both.flatMap(({ broker }) => broker.bodies);
    expect([sent.length, new Set(sent).size, room.count]).toEqual([1_000, 1_000, 0]);
  });

  test('the one leaves alone what the other has under way for long', async () => {
    const { clock, room, start } = aService();
    const slow = start();
    const confirm = Promise.withResolvers<void>();
    slow.broker.refused.set('a', confirm.promise);
    await slow.putAll('a', ['1']);
    slow.broker.become('writable');
    const other = start({ broker: new SomeBroker() });
    await clock.runFor(120_000);
    confirm.resolve();
    await clock.runFor(20_000);
    expect([slow.broker.bodies, other.broker.asked, room.count]).toEqual([['1'], [], 0]);
  });

  test('the other takes what the one had, once it stands still for longer than its claim; it then settles no more', async () => {
    const { clock, room, start } = aService();
    const still = start();
    await still.putAll('a', numbers('', 3));
    const never = Promise.withResolvers<void>();
    still.broker.refused.set('a', never.promise);
    still.broker.become('writable');
    await clock.runFor(0);
    expect(still.broker.asked).toEqual(['0']);
    // Nothing runs: not even what would renew its claims.
    clock.skipTo(clock.now() + 21_000);
    const other = start({ broker: new SomeBroker() });
    await clock.runFor(0);
    expect(other.broker.bodies).toEqual(['0', '1', '2']);
    never.resolve();
    await clock.runFor(60_000);
    expect([still.broker.asked, room.count]).toEqual([['0'], 0]);
    expect(await still.registry.metrics()).toMatch(/waybell_waiting_rooms\{state="claimed",.*\} 0\n/);
  });

  test('the one sends nothing of what it took, if it has lost that by the time Postgres answers', async () => {
    const { clock, room, start } = aService();
    const slow = start();
    await slow.putAll('a', ['1', '2']);
    const { take } = slow.store;
    slow.store.take = async (wanted) => {
      const taken = await take(wanted);
      await clock.sleep(21_000);
      return taken;
    };
    slow.broker.become('writable');
    await clock.runFor(0);
    const other = start({ broker: new SomeBroker() });
    await clock.runFor(60_000);
    expect([slow.broker.asked, other.broker.bodies, room.count]).toEqual([[], ['1', '2'], 0]);
  });

  test('the other tries a destination when the one has said, and finds it open again', async () => {
    const { clock, room, start } = aService();
    const [one, other] = [start(), start({ broker: new SomeBroker() })];
    await clock.runFor(0);
    for (const { broker } of [one, other]) broker.refused.set('a', missing);
    await one.putAll('a', numbers('', 30));
    one.broker.become('writable');
    await clock.runFor(30_000);
    one.broker.become('away');
    expect(room.room(roomOfKey('a'))?.shutSince).toBe(0);
    const before = one.broker.asked.length;
    for (const { broker } of [one, other]) broker.refused.clear();
    await clock.runFor(25_000);
    expect(one.broker.asked).toHaveLength(before);
    expect([other.broker.taken.length, room.count]).toEqual([30, 0]);
  });
});

describe('while Postgres is away', () => {
  test('nothing is said to wait', async () => {
    const { room, publications } = aProcess();
    room.isAway = true;
    await expect(publications.put(aPublication('a', 'x'))).rejects.toThrow(Unavailable);
    expect(room.count).toBe(0);
  });

  test('what was confirmed and not settled is not sent again, as long as the claim lasts', async () => {
    const { clock, room, broker, putAll } = aProcess();
    const confirm = Promise.withResolvers<void>();
    broker.refused.set('a', confirm.promise);
    await putAll('a', numbers('', 3));
    broker.become('writable');
    await clock.runFor(0);
    room.isAway = true;
    confirm.resolve();
    await clock.runFor(14_000);
    room.isAway = false;
    await clock.runFor(10_000);
    expect([broker.bodies, room.count]).toEqual([['0', '1', '2'], 0]);
  });

  test('what was confirmed and not settled is sent again by another process', async () => {
    const { clock, room, start } = aService();
    const killed = start();
    await killed.putAll('a', ['1']);
    killed.broker.become('writable');
    killed.store.settle = () => new Promise(() => undefined);
    await clock.runFor(0);
    expect([killed.broker.bodies, room.count]).toEqual([['1'], 1]);
    clock.skipTo(clock.now() + 21_000);
    const other = start({ broker: new SomeBroker() });
    await clock.runFor(0);
    expect([other.broker.bodies, room.count]).toEqual([['1'], 0]);
  });
});

describe('at its end', () => {
  test('it begins nothing, waits for what is under way, and settles that', async () => {
    const { clock, room, broker, publications, putAll } = aProcess();
    await putAll('a', ['1', '2']);
    const confirm = Promise.withResolvers<void>();
    broker.refused.set('a', confirm.promise);
    broker.become('writable');
    await clock.runFor(0);
    await putAll('b', ['3']);
    const closed = publications[Symbol.asyncDispose]();
    await clock.runFor(1_000);
    confirm.resolve();
    await clock.runFor(0);
    await closed;
    expect([broker.asked, room.count]).toEqual([['1'], 2]);
  });

  test.each(['writable', 'blocked'] as const)(
    "what is not confirmed in time is at once another's, where the broker is %s",
    async (state) => {
      const { clock, room, start } = aService();
      const { broker, publications, putAll } = start();
      await putAll('a', ['1', '2']);
      const never = Promise.withResolvers<void>();
      broker.refused.set('a', never.promise);
      broker.become('writable');
      await clock.runFor(0);
      broker.become(state);
      let isClosed = false;
      void publications[Symbol.asyncDispose]().then(() => (isClosed = true));
      await clock.runFor(state === 'writable' ? 1_999 : 0);
      expect(isClosed).toBe(state === 'blocked');
      await clock.runFor(1);
      expect(isClosed).toBe(true);
      const other = start({ broker: new SomeBroker() });
      await clock.runFor(0);
      expect([other.broker.bodies, room.count]).toEqual([['1', '2'], 0]);
      never.resolve();
      await clock.runFor(0);
      expect(broker.asked).toEqual(['1']);
    },
  );
});

test('a destination that was claimed again, while what was sent under an older claim was not confirmed, is sent to by one at a time', async () => {
  const { clock, room, broker, putAll } = aProcess();
  await putAll('a', numbers('a', 200));
  const older = Promise.withResolvers<void>();
  broker.refused.set('a', older.promise);
  broker.become('writable');
  await clock.runFor(1);
  expect(broker.asked).toEqual(['a0']);
  room.isAway = true;
  await clock.runFor(21_000);
  room.isAway = false;
  const newer = Promise.withResolvers<void>();
  broker.refused.set('a', newer.promise);
  await clock.runFor(10_000);
  expect(broker.asked).toEqual(['a0', 'a0']);
  older.resolve();
  await clock.runFor(10_000);
  expect(broker.asked).toEqual(['a0', 'a0']);
  newer.resolve();
  await clock.runFor(10_000);
  expect([room.count, broker.asked.length]).toEqual([0, 201]);
});
