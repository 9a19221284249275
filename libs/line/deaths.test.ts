import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { connectRedis } from '@waybell/runtime/redis';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { deathsInRedis, type Deaths } from './deaths.ts';
import { CrashCounter } from './hand-over/crash-counter.ts';
import { deathsOf, type Lane } from './hand-over/suspicion.ts';
import { newSourceId, type Message, type Source } from './messages.ts';
import { Detour } from './testing/detour.ts';

const PATIENT_MS = 60_000;
const log = createLog({ service: 'test', level: 'silent' });

let redisUrl: string;
let wayToRedis: Detour;

beforeAll(async () => {
  ({ url: redisUrl } = await borrowRedis());
  wayToRedis = await Detour.to(redisUrl);
});

afterAll(async () => {
  await wayToRedis[Symbol.asyncDispose]();
});

/** A process's notes, over its own proxy to Redis if the test cuts it. */
async function aProcess(url = redisUrl) {
  const redis = connectRedis({ url, timeoutMs: PATIENT_MS, log });
  await until('it is connected', () => redis.status === 'ready');
  const deaths = deathsInRedis(redis, { log });
  return { redis, deaths, blame: new CrashCounter(deaths), [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
}

let names = 0;
const aName = () => `message ${process.pid} ${(names += 1)}`;
const first = async (deaths: Deaths, name: string) => (await deaths.hold([name]))[0];

function aSource(messageId: string, deliveryCount: number, queue = 'q'): Source & { raw: Message } {
  const raw = { queue, exchange: '', routingKey: '', body: Buffer.alloc(0), messageId, deliveryCount, failures: 0 };
  return { id: newSourceId(), raw, messages: [raw], acknowledge: () => undefined, giveBack: () => undefined };
}

/** Returns the number of crashes counted when the process takes the message after so many redeliveries. */
const taken = async (blame: CrashCounter, messageId: string, deliveryCount: number, lane: Lane = 'queue') => {
  const source = aSource(messageId, deliveryCount);
  await new Promise<void>((resolve) => blame.count(source, lane, resolve));
  return { source, deaths: source.raw.deaths };
};

describe('a process that died with a message in hand', () => {
  test('is known to those that take the message after it, and each of them counts', async () => {
    await using one = await aProcess();
    await using two = await aProcess();
    await using three = await aProcess();
    const name = aName();
    expect(await first(one.deaths, name)).toBe(0);
    expect(await first(one.deaths, name)).toBe(0);
    expect(await first(two.deaths, name)).toBe(1);
    expect(await first(three.deaths, name)).toBe(2);
  });

  test('is none if it lives: what it lets go of it takes back, also where Redis was away meanwhile', async () => {
    await using one = await aProcess(wayToRedis.url);
    await using two = await aProcess();
    const [name, kept] = [aName(), aName()];
    await one.deaths.hold([name, kept]);
    wayToRedis.stall('everything');
    wayToRedis.cut();
    await until('Redis is away', () => one.redis.status !== 'ready');
    one.deaths.letGo([name, kept]);
    expect(await first(two.deaths, name)).toBe(1);
    wayToRedis.flow();
    await until('it has taken that back', async () => (await first(two.deaths, name)) === 0);
    await until('it is connected', () => one.redis.status === 'ready');
    await one.deaths.hold([kept]);
    expect(await first(two.deaths, kept)).toBe(1);
  });
});

describe('a message that comes again', () => {
  test('is blamed for no connection that was cut, however often, and whichever process had it', async () => {
    await using one = await aProcess();
    await using two = await aProcess();
    const name = aName();
    for (let returns = 1; returns < 12; returns += 1) {
      const { blame, deaths: store } = returns % 2 === 0 ? one : two;
      const { source, deaths } = await taken(blame, name, returns);
      expect(deaths).toBeLessThanOrEqual(1);
      blame.noteReturn(source);
      // Redis answers in order.
      await store.hold([aName()]);
    }
  });

  test('is blamed for those that died with it, whatever else happened', async () => {
    await using one = await aProcess();
    await using two = await aProcess();
    await using three = await aProcess();
    const name = aName();
    expect((await taken(one.blame, name, 1)).deaths).toBe(1);
    expect((await taken(two.blame, name, 2)).deaths).toBe(2);
    const third = await taken(three.blame, name, 3);
    expect(third.deaths).toBe(3);
    three.blame.noteReturn(third.source);
    expect((await taken(three.blame, name, 4)).deaths).toBe(3);
  });

  test('is blamed for none where it was settled in the meantime', async () => {
    await using one = await aProcess();
    await using two = await aProcess();
    const name = aName();
    one.blame.done((await taken(one.blame, name, 0, 'suspects')).source);
    await until('its note is taken back', async () => (await taken(two.blame, name, 1, 'suspects')).deaths === 0);
  });

  test('from the quarantine is blamed for a quarter of a death once others are beside it', async () => {
    await using one = await aProcess();
    await using two = await aProcess();
    await using three = await aProcess();
    const name = aName();
    await taken(one.blame, name, 0, 'quarantine');
    expect((await taken(two.blame, name, 1, 'quarantine')).deaths).toBe(1);
    one.blame.clearAlone();
    two.blame.clearAlone();
    await until('it is known', async () => (await taken(three.blame, name, 2, 'quarantine')).deaths === 0.5);
  });

  test('may have killed with each return where that is not known, except those that this process saw', async () => {
    const blame = new CrashCounter(undefined);
    const name = aName();
    const { source, deaths } = await taken(blame, name, 3);
    expect(deaths).toBe(3);
    blame.noteReturn(source);
    blame.noteReturn((await taken(blame, name, 4)).source);
    expect((await taken(blame, name, 5)).deaths).toBe(3);
  });

  test('is not handed on while it is judged if it is taken back', async () => {
    await using one = await aProcess();
    const source = aSource(aName(), 1);
    let isJudged = false;
    one.blame.count(source, 'queue', () => (isJudged = true));
    expect(one.blame.counting).toBe(1);
    one.blame.noteReturn(source);
    expect(one.blame.counting).toBe(0);
    await first(one.deaths, aName());
    expect(isJudged).toBe(false);
  });
});

test.each<[Lane, number, { held: number; alone: number } | undefined, number]>([
  ['queue', 9, { held: 0, alone: 0 }, 1],
  ['queue', 9, { held: 2, alone: 0 }, 3],
  ['queue', 1, { held: 2, alone: 0 }, 1],
  ['suspects', 9, { held: 0, alone: 0 }, 0],
  ['suspects', 9, { held: 1, alone: 0 }, 1],
  ['quarantine', 9, { held: 3, alone: 3 }, 3],
  ['quarantine', 9, { held: 3, alone: 0 }, 0.75],
  ['quarantine', 2, { held: 3, alone: 3 }, 2],
  ['quarantine', 9, undefined, 9],
])('a message from the %s that came back %d times, noted %p, killed %d', (lane, returns, noted, deaths) => {
  expect(deathsOf(lane, returns, noted)).toBe(deaths);
});
