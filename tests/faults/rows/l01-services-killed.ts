import { serviceNames } from '@waybell/stack/services';
import { until } from '@waybell/runtime/testing/until';
import { Load } from '../../testing/load.ts';
import { crowds } from '../crowd.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { underLoad, type Inject } from '../under-load.ts';

const BATCHES_PER_SECOND = 20;
const CLIENTS = 8;
const TAKES_MS = 200;
/** Deliveries under way or done when it dies, some of each batch. */
const IN_FLIGHT = 20;

/** Nothing is recognised then that another process did. */
const killWithoutRedis: Inject = async (stage, ledger) => {
  const { receiver, stack } = stage;
  const parties = await crowds(stage, CLIENTS, TAKES_MS);
  const redis = stack.stack.servers.process('redis');
  await redis.stop();
  using load = new Load({ ledger, parties, eventsPerSecond: BATCHES_PER_SECOND });
  await until('batches are under way', () => receiver.unanswered > IN_FLIGHT);
  await stack.stack.service('deliverer').kill();
  await ledger.movedAgain(performance.now());
  await load.stop();
  await redis.start();
};

/** `kill -9` at a random moment; the supervisor starts it again. */
export const servicesKilled: Fault[] = [
  ...serviceNames.map((name): Fault => ({
    row: 'L1',
    name: `${name} killed`,
    gates: ['event-router', 'deliverer'].includes(name),
    // Requests that were made and not yet acknowledged are made again, and no others.
    bars: { duplicates: name === 'deliverer' ? HELD : 0, movingAgainSeconds: 10 },
    run: underLoad(({ stack }) => stack.stack.service(name).kill(), { releaseTimes: 20 }),
  })),
  {
    row: 'L1',
    name: 'deliverer killed among batches, Redis away',
    settings: { REDIS_TIMEOUT: '1s' },
    bars: { duplicates: HELD, forked: HELD, movingAgainSeconds: 10 },
    run: underLoad(killWithoutRedis, { releaseTimes: 20 }),
  },
];
