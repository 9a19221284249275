import type { ConfirmChannel, GetMessage } from 'amqplib';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue, retryQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { readSchedule, scheduleSettings } from '@waybell/line/schedule';
import { readEnvironment } from '@waybell/runtime/environment';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import { onChannel } from '../on-channel.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { underLoad } from '../under-load.ts';
import type { Scale, Stage } from '../stage.ts';

const ACTION = 'shipper.order.paid';
/** Long enough for so many to wait at once. */
const DELAY_MS = { short: 6_000, release: 20_000 };
const DELIVERY_QUEUE = deliveryQueue(ACTION);
const retryQueueOf = ({ scale }: Pick<Stage, 'scale'>) => retryQueue(ACTION, DELAY_MS[scale]);
const settings = (scale: Scale) => ({ SHIPPER_RETRY_DELAYS: `${DELAY_MS[scale]}ms` });
/** So few in short that a machine of a tenth of the usual speed gets there: what arrives within one delay waits at once. */
const WAITING = { short: 200, release: 10_000 };
const KILLS = { short: 1, release: 10 };
/** More than can have been under way at the kill, so that some were begun after it. */
const AFTERWARDS = 1_000;
const EVENTS_PER_SECOND = { short: 200, release: 1_000 };

/** The broker is killed while retries of mixed ages wait in it. */
export const retriesWaiting: Fault[] = [
  {
    row: 'L11',
    name: 'RabbitMQ killed while retries wait in it',
    suite: 'long',
    settings,
    bars: { duplicates: HELD },
    run: killedWhileTheyWait,
  },
  {
    row: 'L11',
    name: 'one retry taken away by hand, which must be missed',
    suite: 'gate',
    bars: { duplicates: 0 },
    run: underLoad(takeOneAway),
  },
  {
    row: 'L11',
    name: 'RabbitMQ killed while they come due all at once',
    suite: 'bench',
    settings,
    bars: { duplicates: HELD + WAITING.release },
    run: killedWhileTheyComeDue,
  },
];

async function killedWhileTheyWait(stage: Stage, ledger: Ledger): Promise<Course> {
  const times = KILLS[stage.scale];
  let movingAgainSeconds = 0;
  for (let kill = 1; kill <= times; kill += 1) {
    movingAgainSeconds = Math.max(movingAgainSeconds, await killWhileTheyWait(stage, ledger));
    await ledger.untilSettled();
  }
  return { times, movingAgainSeconds };
}

async function killedWhileTheyComeDue(stage: Stage, ledger: Ledger): Promise<Course> {
  const { load } = await begin(stage, ledger);
  await untilTheyWait(stage);
  await load.stop();
  const deliverer = stage.stack.stack.service('deliverer');
  await deliverer.stop();
  await onChannel(stage, async (channel) => {
    await waitTogether(channel, retryQueueOf(stage));
    await until('they come due', async () => (await channel.checkQueue(DELIVERY_QUEUE)).messageCount > 0);
  });
  await killBroker(stage);
  await deliverer.start();
  await ledger.untilSettled();
  return {};
}

/** Takes what waits and puts it back at once: it comes due at once. */
async function waitTogether(channel: ConfirmChannel, queue: string): Promise<void> {
  const taken: GetMessage[] = [];
  for (let next = await channel.get(queue); next !== false; next = await channel.get(queue)) taken.push(next);
  for (const { fields, properties, content } of taken) {
    const { messageId, type, correlationId, contentType } = properties;
    const same = { messageId, type, correlationId, contentType, persistent: true };
    channel.publish(fields.exchange, fields.routingKey, content, same);
  }
  await channel.waitForConfirms();
  channel.ackAll();
}

async function killWhileTheyWait(stage: Stage, ledger: Ledger): Promise<number> {
  const { load, isRetried } = await begin(stage, ledger);
  await untilTheyWait(stage);
  // Of mixed ages: some are just on their way from the one queue to the other.
  await until('the first come back', isRetried);
  const since = performance.now();
  await killBroker(stage);
  const before = ledger.published;
  await until('there is load again', () => ledger.published >= before + AFTERWARDS);
  // Stopped before it is waited for: a slow machine publishes more meanwhile than it delivers.
  await load.stop();
  return ledger.movedAgain(since);
}

/** Publishes for a shipper whose receiver fails the first attempt at each delivery. */
async function begin(stage: Stage, ledger: Ledger): Promise<{ load: Load; isRetried: () => boolean }> {
  const wanted = { interface: 'shipper', action: 'order.paid', folder: '/waits', answers: [500, 200] } as const;
  const party = await subscribed(stage, wanted);
  const path = party.addresses[0]?.path ?? '';
  return {
    load: new Load({ ledger, parties: [party], eventsPerSecond: EVENTS_PER_SECOND[stage.scale] }),
    isRetried: () => stage.receiver.at(path).some(({ headers }) => headers['x-webhook-attempt'] === '2'),
  };
}

async function killBroker({ stack }: Stage): Promise<void> {
  const broker = stack.stack.servers.process('rabbitmq');
  await broker.kill();
  await until('RabbitMQ is back', () => broker.state === 'ready');
}

/** Takes one retry of the load away. */
async function takeOneAway(stage: Stage, ledger: Ledger): Promise<void> {
  const { shipper } = readSchedule(readEnvironment(scheduleSettings, stage.stack.stack.service('deliverer').spec.env));
  const queue = retryQueue(ACTION, shipper[0] ?? 0);
  const taken = await onChannel(stage, (channel) => until('a retry waits', () => channel.get(queue, { noAck: true })));
  ledger.takenAway.add(String(taken.properties.messageId));
}

async function untilTheyWait(stage: Stage): Promise<void> {
  const [queue, count] = [retryQueueOf(stage), WAITING[stage.scale]];
  await until(`there are ${count} in ${queue}`, async () => {
    const [depth] = (await queueDepths({ url: stage.stack.brokerUrl }, [queue])) ?? [];
    return depth !== undefined && depth.messages >= count;
  });
}
