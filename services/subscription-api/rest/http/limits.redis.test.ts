import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { connectRedis } from '@waybell/runtime/redis';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { Detour } from '@waybell/runtime/testing/detour';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';
import { sharedCounts } from './limits.ts';

// No test comes near its end.
const windowMs = 3_600_000;

/** Counts of one replica; those with the same prefix are replicas of each other. */
function aReplica(url: string, prefix: string) {
  const redis = connectRedis({ url, timeoutMs: PATIENT_MS, log });
  return { redis, ...sharedCounts({ redis, prefix, windowMs, log }) };
}

describe('sharedCounts', () => {
  test('counts for all replicas together, and each key by itself', async () => {
    const prefix = `test:${randomUUID()}:`;
    const { url } = await borrowRedis();
    const replicas = [aReplica(url, prefix), aReplica(url, prefix)] as const;
    await using _one = replicas[0].redis;
    await using _other = replicas[1].redis;
    await until('all are connected', () => replicas.every(({ redis }) => redis.status === 'ready'));
    for (const { increment } of replicas) await increment('a');
    expect((await replicas[0].increment('b')).totalHits).toBe(1);
    const { totalHits, resetTime } = await replicas[0].increment('a');
    expect(totalHits).toBe(3);
    expect(resetTime?.getTime()).toBeLessThanOrEqual(wallClockMs() + windowMs);
    expect((await replicas[1].get('a'))?.totalHits).toBe(3);
  });

  test('counts in this process while Redis is away, from the start or later, and together again after', async () => {
    await using proxy = await Detour.to((await borrowRedis()).url);
    await proxy.shut();
    const { redis, increment } = aReplica(proxy.url, `test:${randomUUID()}:`);
    await using _redis = redis;
    expect((await increment('a')).totalHits).toBe(1);
    expect((await increment('a')).totalHits).toBe(2);
    await proxy.reopen();
    await until('it is connected', () => redis.status === 'ready');
    expect((await increment('a')).totalHits).toBe(1);
    await proxy.shut();
    expect((await increment('a')).totalHits).toBe(3);
    await until('it has heard that its connection is lost', () => redis.status !== 'ready');
    await proxy.reopen();
    await until('it is connected again', () => redis.status === 'ready');
    expect((await increment('a')).totalHits).toBe(2);
  });
});
