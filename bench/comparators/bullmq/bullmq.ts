import { Redis } from 'ioredis';
import { startPart } from '../../lib/part.ts';
import type { Contender } from '../contender.ts';
import type { HttpClientName } from '../http-clients.ts';

type BullmqRouterCommands = { route(hop: { redisUrl: string; databaseUrl: string; concurrency: number }): void };
type BullmqDelivererCommands = {
  deliver(hop: { redisUrl: string; client: HttpClientName; concurrency: number }): void;
};

/** Jobs under way at once in each of the two processes. */
const CONCURRENCY = 128;

/** The alternative of a Node developer: BullMQ for both hops, Redis with an append-only file every second. */
export function bullmq(client: HttpClientName): Contender {
  return {
    name: `BullMQ, ${client.replace(' as it comes', '')}`,
    async start({ stack: { servers } }) {
      const redisUrl = servers.url('redis');
      await keepOnDisk(redisUrl, true);
      const router = startPart<BullmqRouterCommands>('comparators/bullmq/router.ts');
      const deliverer = startPart<BullmqDelivererCommands>('comparators/bullmq/deliverer.ts');
      await router.call('route', { redisUrl, databaseUrl: servers.url('postgres'), concurrency: CONCURRENCY });
      await deliverer.call('deliver', { redisUrl, client, concurrency: CONCURRENCY });
      return {
        target: { url: redisUrl, bullmq: true },
        parts: { 'event-router': [router.pid], deliverer: [deliverer.pid] },
        stop: async () => {
          await Promise.all([router.stop(), deliverer.stop()]);
          await keepOnDisk(redisUrl, false);
        },
      };
    },
  };
}

/** Redis as BullMQ's documentation asks for it; our own Redis holds only what may be lost. */
async function keepOnDisk(redisUrl: string, isOn: boolean): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  await redis.config('SET', 'appendfsync', 'everysec');
  await redis.config('SET', 'appendonly', isOn ? 'yes' : 'no');
  redis.disconnect();
}
