import { describe, expect, jest, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectRedis } from '@waybell/runtime/redis';
import type { Outgoing } from './messages.ts';
import { onceInRedis, type Once, type OncePolicy } from './once.ts';
import type { Message } from './messages.ts';
import { aLine, to } from './testing/a-line.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { MemoryBroker } from './testing/memory-broker.ts';
import { MemoryLink } from './testing/memory-link.ts';
import { MemoryOnce } from './testing/memory-once.ts';
import { smallTopology, TestBroker } from './testing/test-broker.ts';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { readyRedis } from '@waybell/runtime/testing/ready-redis';
import { shared } from '@waybell/runtime/testing/shared';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';

const broker = shared(() => TestBroker.start());
const wayToRedis = shared(async () => Detour.to((await borrowRedis()).url));
const redis = shared(() => readyRedis(wayToRedis.url));
let lines = 0;

/** A line whose messages have their key before a colon, and their fingerprint after it. */
const aRememberingLine = async (handle?: (body: string) => Promise<Outgoing[]>) => {
  const prefix = String((lines += 1));
  const repeats: string[] = [];
  const metrics = createMetrics('test');
  const policy: OncePolicy<Message> = {
    keyOf: ({ body }) => {
      const [key = '', fingerprint = ''] = body.toString().split(':');
      return { key: `${prefix}.${key}`, fingerprint };
    },
    ttlMs: 60_000,
    onRepeat: ({ body }, isSame) => {
      repeats.push(`${body.toString()} ${isSame ? 'same' : 'other'}`);
      return [];
    },
    isWorthRemembering: (caused) => caused.length > 0,
  };
  const line = await aLine(broker, {
    once: policy,
    tools: { once: onceInRedis(redis, { log, metrics }) },
    ...(handle !== undefined && { handle }),
  });
  return { line, repeats, metrics, handled: () => line.seen.map(({ body }) => body.toString()) };
};

/** Marks as two processes see them. `isOver`: resolves when a short one is. */
type MarksStand = {
  mine: Once;
  other: Once;
  isOver: (key: string) => Promise<void>;
};

const STANDS: [string, () => MarksStand][] = [
  [
    'in Redis',
    () => {
      const [mine, other] = [1, 2].map(() => onceInRedis(redis, { log, metrics: createMetrics('test') }));
      if (mine === undefined || other === undefined) throw new Error('two were made');
      const isOver = async (key: string) =>
        void (await until('it is over', async () => (await other.recall([key]))[0] === undefined));
      return { mine, other, isOver };
    },
  ],
  [
    'in memory, as the line of tests has them',
    () => {
      let now = 0;
      const marks = new MemoryOnce(() => now);
      const [mine, other] = [1, 2].map(() =>
        marks.of(new MemoryLink(new MemoryBroker(smallTopology, new TurnedClock()))),
      );
      if (mine === undefined || other === undefined) throw new Error('two were made');
      return { mine, other, isOver: async () => void (now += 60_000) };
    },
  ],
];

describe.each(STANDS)('marks %s', (_where, stand) => {
  const mark = (key: string, fingerprint: string) => ({ key: `${key} of ${_where}`, fingerprint });
  const recalled = (once: Once, ...keys: string[]) => once.recall(keys.map((key) => mark(key, '').key));

  test('are known to all processes, each at the place of its key, the last of a key, and no others', async () => {
    const { mine, other } = stand();
    await mine.remember([mark('a', '1'), mark('b', '2')], 60_000);
    await other.remember([mark('a', '3')], 60_000);
    expect(await recalled(other, 'b', 'unknown', 'a')).toEqual(['2', undefined, '3']);
    expect(await recalled(mine, 'a', 'b')).toEqual(['3', '2']);
  });

  test('are forgotten when their time is over', async () => {
    const { mine, other, isOver } = stand();
    await mine.remember([mark('short', '1')], 200);
    await mine.remember([mark('long', '2')], 600_000);
    await isOver(mark('short', '').key);
    for (const once of [mine, other]) expect(await recalled(once, 'short', 'long')).toEqual([undefined, '2']);
  });
});

describe('a Redis that comes back empty', () => {
  const onces = () => [1, 2].map(() => onceInRedis(redis, { log, metrics: createMetrics('test') }));
  const TTL_MS = 600_000;

  test('costs duplicates of other processes alone: each knows what it handled last, for as long as it was to be remembered', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const [mine, other] = onces();
    await mine?.remember(
      [
        { key: 'lost', fingerprint: '1' },
        { key: 'kept', fingerprint: '2' },
      ],
      TTL_MS,
    );
    await redis.flushdb();
    await other?.remember([{ key: 'kept', fingerprint: '3' }], TTL_MS);
    clock.mockReturnValue(TTL_MS - 1);
    expect(await mine?.recall(['kept', 'lost'])).toEqual(['3', '1']);
    expect(await other?.recall(['kept', 'lost'])).toEqual(['3', undefined]);
    clock.mockReturnValue(TTL_MS);
    expect(await mine?.recall(['kept', 'lost'])).toEqual(['3', undefined]);
    clock.mockRestore();
  });

  test('has a process know what it handled last, however much that is, by the last time of each', async () => {
    const [mine] = onces();
    const marks = Array.from({ length: 4_096 }, (_, place) => ({ key: `one ${place}`, fingerprint: `${place}` }));
    await mine?.remember(marks, TTL_MS);
    await mine?.remember([...marks.slice(0, 1), { key: 'one more', fingerprint: 'm' }], TTL_MS);
    await redis.flushdb();
    const known = await mine?.recall(['one 0', 'one 1', 'one 2', 'one 4095', 'one more']);
    expect(known).toEqual(['0', undefined, '2', '4095', 'm']);
  });
});

describe('once', () => {
  test('a repeat is recognised, and one of another content told from it', async () => {
    const { line, repeats, handled } = await aRememberingLine();
    await using _running = await line.run();
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    await broker.put(line.input, ['a:1', 'a:2', 'b:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['b:1']);
    await until('both repeats were seen', () => repeats.length === 2);
    expect(repeats.toSorted()).toEqual(['a:1 same', 'a:2 other']);
    expect(handled()).toEqual(['a:1', 'b:1']);
  });

  test('of copies at the same time one is handled, and the others wait for it', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const { line, repeats, handled } = await aRememberingLine(async (body) => {
      await released;
      return [to(line.output, body)];
    });
    await broker.put(line.input, ['a:1', 'a:1', 'a:1', 'b:1']);
    await using _running = await line.run();
    await until('both have begun', () => handled().length === 2);
    release();
    await until('the copies were seen', () => repeats.length === 2);
    expect(handled()).toEqual(['a:1', 'b:1']);
  });

  test('what is not worth it is not remembered', async () => {
    let isReady = false;
    const { line, repeats, handled } = await aRememberingLine(async (body) => (isReady ? [to(line.output, body)] : []));
    await using _running = await line.run();
    await broker.put(line.input, ['a:1']);
    await until('it was handled', () => handled().length === 1);
    isReady = true;
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    expect(repeats).toEqual([]);
  });

  test('what failed is not remembered: it is handled on the suspects lane', async () => {
    let throws = 1;
    const { line, repeats } = await aRememberingLine(async (body) => {
      if ((throws -= 1) >= 0) throw new Error('a bug');
      return [to(line.output, body)];
    });
    await using _running = await line.run();
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    expect(repeats).toEqual([]);
  });

  test('what could not be published is not remembered: it would be lost as a repeat', async () => {
    let tries = 0;
    const { line, repeats } = await aRememberingLine(async (body) => {
      tries += 1;
      return [to(tries === 1 ? 'nobody' : line.output, body)];
    });
    await using _running = await line.run();
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    expect(repeats).toEqual([]);
  });

  test('a process that dies after the confirms, before it could remember, costs a repeat and loses nothing', async () => {
    await using way = await Detour.to(broker.url);
    await using itsWay = await Detour.to(wayToRedis.url);
    await using slowRedis = connectRedis({ url: itsWay.url, timeoutMs: PATIENT_MS, log });
    await until('Redis is there', () => slowRedis.status === 'ready');
    const { line, repeats } = await aRememberingLine(async (body) => {
      itsWay.stall('everything');
      return [to(line.output, body)];
    });
    await using _dying = await line.run({
      broker: { url: way.url },
      tools: { once: onceInRedis(slowRedis, { log, metrics: createMetrics('test') }) },
    });
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    // The servers see it as dead from here on.
    way.stall('everything');
    way.cut();
    await using _survivor = await line.run();
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    expect(line.seen.map(({ deliveryCount }) => deliveryCount)).toEqual([0, 1]);
    await broker.put(line.input, ['a:1']);
    await until('it is recognised now', () => repeats.length === 1);
    itsWay.flow();
  });

  test('while Redis is away the line goes on, a process knows what it did itself, another does it again, and it is counted', async () => {
    const { line, handled, repeats, metrics } = await aRememberingLine();
    wayToRedis.stall('everything');
    wayToRedis.cut();
    await until('Redis is away', () => redis.status !== 'ready');
    {
      await using _running = await line.run();
      await broker.put(line.input, ['a:1', 'a:1', 'b:1']);
      expect((await broker.takeBodies(line.output, 2)).toSorted()).toEqual(['a:1', 'b:1']);
      await until('the repeat was seen', () => repeats.length === 1);
      await until('all were to be remembered', async () => {
        const shown = await metrics.metrics();
        return [`{operation="recall",service="test"} 3`, `{operation="remember",service="test"} 2`].every((figure) =>
          shown.includes(figure),
        );
      });
    }
    await using _another = await line.run({
      tools: { once: onceInRedis(redis, { log, metrics: createMetrics('test') }) },
    });
    await broker.put(line.input, ['a:1']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['a:1']);
    expect(handled()).toEqual(['a:1', 'b:1', 'a:1']);
    wayToRedis.flow();
  });
});
