import { ALARMS } from '../../faults/alarmed.ts';
import { freeze } from '../../faults/freeze.ts';
import { stallQueue } from '../../faults/stall-queue.ts';
import { hang } from '../../testing/hang.ts';
import { deliveryQueue, logQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { queueDepths } from '@waybell/stack/queue-depths';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import { reporting } from './reporting.ts';

export const brokerAlarm: Cause = {
  name: 'RabbitMQ has a memory alarm',
  alerts: ['WaybellBrokerAlarm/alarm', 'WaybellBrokerAlarm/blocked', 'WaybellWaitingTooOld/destinations'],
  instead: { 'WaybellWaitingTooOld/destinations': ['> 300', '> 3'] },
  async begin(scene) {
    const load = await flow(scene, { answers: [500, 500, 500, 500, 500, 200] });
    await until('attempts fail', () =>
      scene.receiver.received.some(({ path }) => path === load.party.addresses[0]?.path),
    );
    await rabbitmqctl(scene.node, ...ALARMS.memory.on);
    return async () => {
      await rabbitmqctl(scene.node, ...ALARMS.memory.off);
      await load.stop();
    };
  },
};

export const queueStalled: Cause = {
  name: 'the leader of a queue hangs',
  alerts: ['WaybellQueueUnavailable/stalled'],
  async begin(scene) {
    const load = await flow(scene, { action: 'order.booked' });
    const other = await flow(scene);
    const resume = await stallQueue(scene, deliveryQueue('shipper.order.booked'));
    return async () => {
      await resume();
      await Promise.all([load.stop(), other.stop()]);
    };
  },
};

export const postgresAway: Cause = {
  name: 'Postgres is away',
  alerts: ['WaybellNotWorking/not_ready', 'WaybellWaitingFull/away', 'WaybellPositions/silence'],
  async begin(scene) {
    const full = await flow(scene, { folder: '/full', action: 'order.booked', eventsPerSecond: 30 });
    const hung = hang(scene.receiver, full.party.addresses[0]?.path ?? '');
    await until('it hangs', () => hung.open() > 0);
    const goOn = freeze(scene.stack.stack.service('deliverer'));
    // Without Postgres nothing more is routed: what is to wait then has to be there before.
    await until('more waits than it has in hand', async () => {
      const [depth] =
        (await queueDepths({ url: scene.stack.brokerUrl }, [deliveryQueue('shipper.order.booked')])) ?? [];
      return (depth?.messages ?? 0) > 5;
    });
    await scene.stack.stack.servers.process('postgres').stop();
    goOn();
    return async () => {
      await scene.stack.stack.servers.process('postgres').start();
      hung.answer(200);
      await full.stop();
    };
  },
};

export const redisAway: Cause = {
  name: 'Redis is away, and positions wait for it',
  alerts: ['WaybellNotWorking/not_ready'],
  // Its page shows what waits for Postgres.
  pages: [],
  async begin(scene) {
    const reports = await reporting(scene);
    const load = await flow(scene);
    await scene.stack.stack.servers.process('redis').stop();
    return async () => {
      await scene.stack.stack.servers.process('redis').start();
      reports[Symbol.dispose]();
      await load.stop();
    };
  },
};

export const logBehind: Cause = {
  name: 'the tables of the delivery log are locked',
  alerts: ['WaybellLogBehind/behind'],
  instead: { 'WaybellLogBehind/behind': ['> 10000', '> 20'] },
  async begin(scene) {
    const client = await scene.stack.postgres.connect();
    await client.query('begin; lock table delivery_log.attempts, delivery_log.events in access exclusive mode');
    // More than the log takes in hand.
    const load = await flow(scene, { eventsPerSecond: 150 });
    return async () => {
      await client.query('rollback');
      client.release();
      await load.stop();
    };
  },
};

export const outcomesLost: Cause = {
  name: 'what waits for the delivery log is purged',
  alerts: ['WaybellLogBehind/lost'],
  async begin(scene) {
    const log = scene.stack.stack.service('delivery-log');
    await log.stop();
    const load = await flow(scene, { eventsPerSecond: 100 });
    const { path = '' } = load.party.addresses[0] ?? {};
    // More than the alert takes for what a killed process counted.
    await scene.receiver.untilReceived(path, 500);
    await load.stop();
    await until('they wait for the log', async () => {
      const [depth] = (await queueDepths({ url: scene.stack.brokerUrl }, [logQueue])) ?? [];
      return (depth?.messages ?? 0) > 0;
    });
    await rabbitmqctl(scene.node, 'purge_queue', logQueue);
    await log.start();
    return async () => undefined;
  },
};
