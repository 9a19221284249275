import { Redis } from 'ioredis';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { serviceNames } from '@waybell/stack/services';
import { deliveryQueue, retryQueue, routerQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { scheduleOf } from '../testing/schedule-of.ts';
import { ALARMS } from './alarmed.ts';
import { cutConnections } from './cut-connections.ts';
import { freeze } from './freeze.ts';
import { stallQueue } from './stall-queue.ts';
import type { Stage } from './stage.ts';

/** Something that goes wrong for a while. */
export type Mishap = {
  name: string;
  /** Resources that no other mishap may touch while it lasts. */
  takes: readonly string[];
  /** Resources that no other mishap may take while it lasts. */
  needs: readonly string[];
  /** Brings it about; resolves with what ends it. */
  begin: (stage: Stage) => Promise<() => Promise<unknown>>;
};

const STALLED = 'shipper.order.paid';
const nothing = async () => undefined;

/** Whether they cannot go on at once: a broker that is down takes no orders, and what is frozen is not stopped. */
export function exclude(one: Mishap, other: Mishap): boolean {
  const touches = ({ takes, needs }: Mishap) => [...takes, ...needs];
  return (
    one.takes.some((each) => touches(other).includes(each)) || other.takes.some((each) => touches(one).includes(each))
  );
}

/** All that this bench can do to a running system, other than to its receivers and its disks. */
export const mishaps: readonly Mishap[] = [
  ...serviceNames.flatMap((name): Mishap[] => [
    {
      name: `${name} killed`,
      takes: [name],
      needs: [],
      async begin({ stack }) {
        await stack.stack.service(name).kill();
        return nothing;
      },
    },
    {
      name: `${name} told to stop`,
      takes: [name],
      needs: [],
      async begin({ stack }) {
        const service = stack.stack.service(name);
        await service.stop();
        return () => service.start();
      },
    },
  ]),
  ...(['event-router', 'deliverer', 'delivery-log'] as const).map((name): Mishap => ({
    name: `connections of ${name} cut`,
    takes: [],
    needs: ['rabbitmq'],
    async begin(stage) {
      await cutConnections(stage, name);
      return nothing;
    },
  })),
  ...(['rabbitmq', 'postgres', 'redis'] as const).flatMap((name): Mishap[] => [
    {
      name: `${name} killed`,
      takes: [name],
      needs: [],
      async begin({ stack }) {
        const server = stack.stack.servers.process(name);
        await server.kill();
        return () => until(`${name} is back`, () => server.state === 'ready');
      },
    },
    {
      name: `${name} stopped`,
      takes: [name],
      needs: [],
      async begin({ stack }) {
        const server = stack.stack.servers.process(name);
        await server.stop();
        return () => server.start();
      },
    },
  ]),
  ...(['postgres', 'redis'] as const).map((name): Mishap => ({
    name: `${name} frozen`,
    takes: [name],
    needs: [],
    async begin({ stack }) {
      const goOn = freeze(stack.stack.servers.process(name));
      return async () => goOn();
    },
  })),
  {
    name: 'redis emptied',
    takes: [],
    needs: ['redis'],
    async begin({ stack }) {
      const redis = new Redis(stack.stack.servers.url('redis'));
      await redis.flushall().finally(() => redis.disconnect());
      return nothing;
    },
  },
  ...(['memory', 'disk'] as const).map((kind): Mishap => ({
    name: `${kind} alarm`,
    takes: [`${kind} alarm`],
    needs: ['rabbitmq'],
    async begin({ stack }) {
      const { spec } = stack.stack.servers.process('rabbitmq');
      await rabbitmqctl(spec, ...ALARMS[kind].on);
      return () => rabbitmqctl(spec, ...ALARMS[kind].off);
    },
  })),
  ...['the queue of events', 'a delivery queue', 'a retry queue'].map((what, place): Mishap => ({
    name: `${what} stalled`,
    takes: [what],
    needs: ['rabbitmq'],
    begin(stage) {
      const [delayMs = 0] = scheduleOf(stage.stack).shipper;
      return stallQueue(stage, [routerQueue, deliveryQueue(STALLED), retryQueue(STALLED, delayMs)][place] ?? '');
    },
  })),
];
