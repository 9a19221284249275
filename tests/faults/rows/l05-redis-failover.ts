import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { until } from '@waybell/runtime/testing/until';
import { RedisPair } from '../../testing/redis-pair.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { freeze } from '../freeze.ts';
import { buildPlainStage, partOf, type Scale, type Settings } from '../stage.ts';
import { underLoad } from '../under-load.ts';

/** Deliverer and event-router: the others may have nothing to ask it meanwhile, and so not notice. */
const USERS = 2;
const HOLDS_MS = { short: 4_000, release: 20_000 };

/** Faults of the master; each resolves with a function that brings it back, as a replica. */
const faults: Record<string, (pair: RedisPair, master: SupervisedProcess) => Promise<() => Promise<void> | void>> = {
  async 'the master of two Redis frozen, with sentinels'(_pair, master) {
    return freeze(master);
  },
  async 'the master of two Redis made the replica, by sentinels'(pair) {
    await pair.askSentinel('FAILOVER', 'main');
    return () => undefined;
  },
  async 'the master of two Redis killed, with sentinels'(_pair, master) {
    await master.kill();
    return () => master.start();
  },
};

export const redisFailover: Fault[] = Object.entries(faults).map(([name, leave]) => ({
  row: 'L5',
  name,
  settings: { REDIS_TIMEOUT: '1s' },
  buildStage: buildPairStage,
  bars: { duplicates: HELD, movingAgainSeconds: 5, megabytes: 300 },
  run: underLoad(async (stage) => {
    const pair = partOf(stage, RedisPair);
    const master = await pair.master();
    const bringBack = await leave(pair, master);
    await until('another is the master', async () => (await pair.master()) !== master);
    await until('the services work with it', async () => (await clientsOf(pair)) >= USERS);
    await sleep(HOLDS_MS[stage.scale]);
    await bringBack();
    await pair.untilWhole();
  }),
}));

/** How many connections the master has, beside those of sentinels and the one that asks. */
async function clientsOf(pair: RedisPair): Promise<number> {
  const list = await pair.ask(await pair.master(), (redis) => redis.call('CLIENT', 'LIST', 'TYPE', 'normal'));
  const others = String(list)
    .trim()
    .split('\n')
    .filter((line) => !line.includes(' name=sentinel-'));
  return others.length - 1;
}

async function buildPairStage(settings: Settings, scale: Scale) {
  const redis = await RedisPair.start();
  return { ...(await buildPlainStage({ ...settings, REDIS_URL: redis.url }, scale, { beneath: redis })), redis };
}
