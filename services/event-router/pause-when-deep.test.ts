import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { pauseWhenDeep } from './pause-when-deep.ts';

const LIMIT = 100;
const log = createLog({ service: 'test', level: 'error' });
let watch: AsyncDisposable | undefined;
afterEach(async () => {
  await watch?.[Symbol.asyncDispose]();
});

/** A router that routes whenever it may, beside queues of some depth. */
function aRouter() {
  const router = { depth: 0, asked: 0, isPaused: false, isIdle: false, count: 0, answers: Promise.resolve() };
  watch = pauseWhenDeep({
    routing: {
      taken: () => (router.isIdle || router.isPaused ? router.count : (router.count += 1)),
      pause: async () => void (router.isPaused = true),
      resume: () => void (router.isPaused = false),
    },
    depth: async () => {
      router.asked += 1;
      await router.answers;
      return router.depth;
    },
    limit: LIMIT,
    intervalMs: 1,
    log,
    metrics: createMetrics('test'),
  });
  const untilAsked = async (times = 3) => {
    const before = router.asked;
    while (router.asked < before + times) await sleep(1);
  };
  return { router, untilAsked };
}

describe('pauseWhenDeep', () => {
  test('pauses above the limit and goes on at half of it, not before', async () => {
    const { router, untilAsked } = aRouter();
    router.depth = LIMIT;
    await untilAsked();
    expect(router.isPaused).toBe(false);
    router.depth = LIMIT + 1;
    await untilAsked();
    expect(router.isPaused).toBe(true);
    router.depth = LIMIT / 2 + 1;
    await untilAsked();
    expect(router.isPaused).toBe(true);
    router.depth = LIMIT / 2;
    await untilAsked();
    expect(router.isPaused).toBe(false);
  });

  test('asks no more while a broker that hangs has not answered', async () => {
    const { router, untilAsked } = aRouter();
    const { promise, resolve } = Promise.withResolvers<void>();
    router.answers = promise;
    await untilAsked(1);
    const before = router.asked;
    await sleep(20);
    expect(router.asked).toBe(before);
    resolve();
    await untilAsked();
  });

  test('asks nothing while nothing is routed', async () => {
    const { router, untilAsked } = aRouter();
    await untilAsked();
    router.isIdle = true;
    await sleep(5);
    const before = router.asked;
    await sleep(50);
    expect(router.asked - before).toBeLessThanOrEqual(1);
  });
});
