import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { stopServer } from '../break-server.ts';
import type { Fault } from '../fault.ts';
import { freeze } from '../freeze.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const AWAY_MS = { short: 4_000, release: 20_000 };

const faults: Record<string, Inject> = {
  'Redis stopped for a while': (stage) => stopServer(stage, 'redis', AWAY_MS[stage.scale]),
  async 'Redis flushed again and again'(stage) {
    await asOperator(stage, async (redis) => {
      for (const endsAt = Date.now() + AWAY_MS[stage.scale]; Date.now() < endsAt; await sleep(100)) {
        await redis.flushall();
      }
    });
  },
  async 'Redis frozen for a while'({ stack, scale }) {
    const goOn = freeze(stack.stack.servers.process('redis'));
    await sleep(AWAY_MS[scale]);
    goOn();
  },
  async 'Redis out of memory'(stage) {
    await asOperator(stage, async (redis) => {
      await redis.config('SET', 'maxmemory', '1');
      await sleep(AWAY_MS[stage.scale]);
      await redis.config('SET', 'maxmemory', '0');
    });
  },
  async 'Redis read-only'(stage) {
    await asOperator(stage, async (redis) => {
      await redis.replicaof('127.0.0.1', 1);
      await sleep(AWAY_MS[stage.scale]);
      await redis.replicaof('NO', 'ONE');
    });
  },
  async 'Redis five seconds late'(stage) {
    await asOperator(stage, async (redis) => {
      await redis.call('CLIENT', 'PAUSE', '5000', 'ALL');
      await sleep(5_000);
    });
  },
};

/** The line goes on without its memory; what it costs is duplicates, and only where something else fails besides. */
export const redisAway: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L5',
  name,
  settings: { REDIS_TIMEOUT: '1s' },
  bars: { duplicates: HELD, movingAgainSeconds: 5, megabytes: 300 },
  run: underLoad(inject, { releaseTimes: 3 }),
}));

async function asOperator({ stack }: Stage, work: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(stack.stack.servers.url('redis'));
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}
