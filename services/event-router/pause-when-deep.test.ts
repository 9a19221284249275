import { describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { pauseWhenDeep } from './pause-when-deep.ts';

const LIMIT = 100;
const log = createLog({ service: 'test', level: 'error' });
/** Builds a router that routes whenever it may, and queues of some depth. */
function aRouter() {
  const router = {
    depth: 0,
    isExact: true,
    asked: 0,
    isPaused: false,
    isIdle: false,
    count: 0,
    answers: Promise.resolve(),
  };
  const clock = new TurnedClock();
  pauseWhenDeep({
    routing: {
      taken: () => (router.isIdle || router.isPaused ? router.count : (router.count += 1)),
      pause: async () => void (router.isPaused = true),
      resume: () => void (router.isPaused = false),
    },
    depth: async () => {
      router.asked += 1;
      await router.answers;
      return { messages: router.depth, isExact: router.isExact };
    },
    limit: LIMIT,
    log,
    metrics: createMetrics('test'),
    clock,
  });
  return { router, clock };
}

describe('pauseWhenDeep', () => {
  test('pauses above the limit and goes on at half of it, looking once a second', async () => {
    const { router, clock } = aRouter();
    const seen = [];
    for (const depth of [LIMIT, LIMIT + 1, LIMIT / 2 + 1, LIMIT / 2]) {
      router.depth = depth;
      await clock.runFor(1_000);
      seen.push(router.isPaused);
    }
    expect(seen).toEqual([false, true, true, false]);
    expect(router.asked).toBe(4);
  });

  test('neither goes on nor pauses for a depth that is not known, and pauses where what is known of it is too deep', async () => {
    const { router, clock } = aRouter();
    const seen = [];
    for (const [depth, isExact] of [
      [0, false],
      [LIMIT + 1, false],
      [0, false],
      [LIMIT / 2, true],
      [LIMIT, false],
    ] as const) {
      Object.assign(router, { depth, isExact });
      await clock.runFor(1_000);
      seen.push(router.isPaused);
    }
    expect(seen).toEqual([false, true, true, false, false]);
  });

  test('asks no more while a broker that hangs has not answered', async () => {
    const { router, clock } = aRouter();
    const { promise, resolve } = Promise.withResolvers<void>();
    router.answers = promise;
    await clock.runFor(60_000);
    expect(router.asked).toBe(1);
    router.depth = LIMIT;
    resolve();
    await clock.runFor(1_000);
    expect(router.asked).toBe(2);
  });

  test('looks every five seconds while the queues are nearly empty, and every second again when they are not', async () => {
    const { router, clock } = aRouter();
    router.depth = LIMIT / 10;
    await clock.runFor(11_000);
    expect(router.asked).toBe(3);
    router.depth = LIMIT / 10 + 1;
    await clock.runFor(5_000);
    expect(router.asked).toBe(4);
    await clock.runFor(3_000);
    expect(router.asked).toBe(7);
  });

  test('asks nothing while nothing is routed', async () => {
    const { router, clock } = aRouter();
    router.isIdle = true;
    await clock.runFor(60_000);
    expect(router.asked).toBe(0);
  });
});
