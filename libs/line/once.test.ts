import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectRedis, type Redis } from '@waybell/runtime/redis';
import type { Outgoing } from './messages.ts';
import { onceInRedis, type OncePolicy } from './once.ts';
import type { Message } from './messages.ts';
import { aLine, to } from './testing/a-line.ts';
import { Detour } from './testing/detour.ts';
import { TestBroker } from './testing/test-broker.ts';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';

let broker: TestBroker;
let redis: Redis;
let wayToRedis: Detour;
// Long enough that a slow machine does not look like a Redis outage.
const PATIENT_MS = 600_000;
const log = createLog({ service: 'test', level: 'silent' });

beforeAll(async () => {
  broker = await TestBroker.start();
  wayToRedis = await Detour.to((await borrowRedis()).url);
  redis = connectRedis({ url: wayToRedis.url, timeoutMs: PATIENT_MS, log });
  await until('Redis is there', () => redis.status === 'ready');
});

afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await wayToRedis[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

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
