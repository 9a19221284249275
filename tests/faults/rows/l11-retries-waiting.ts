import type { ConfirmChannel } from 'amqplib';
import { queueDepths } from '@waybell/stack/queue-depths';
import { readMessage } from '@waybell/line/broker/amqp-message';
import { openBatch } from '@waybell/line/delivery-batch';
import { deliveryQueue, retryQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { scheduleOf } from '../../testing/schedule-of.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { takeAll } from '../../testing/take-all.ts';
import { until } from '@waybell/runtime/testing/until';
import { onChannel } from '../../testing/on-channel.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { underLoad } from '../under-load.ts';
import type { Scale, Stage } from '../stage.ts';

const ACTION = 'shipper.order.paid';
/** Long enough for so many to wait at once. */
const DELAY_MS = { short: 6_000, release: 20_000 };
const DELIVERY_QUEUE = deliveryQueue(ACTION);
const retryQueueOf = ({ scale }: Pick<Stage, 'scale'>) => retryQueue(ACTION, DELAY_MS[scale]);
const settings = (scale: Scale) => ({ SHIPPER_RETRY_DELAYS: `${DELAY_MS[scale]}ms,300ms,300ms,300ms,300ms` });
/** `short` suffices even on a machine of a tenth of the usual speed: events that arrive within one delay wait at once. */
const WAITING = { short: 200, release: 10_000 };
const EVENTS_PER_SECOND = { short: 200, release: 1_000 };

/** The broker is killed while retries of mixed ages wait in it. */
export const retriesWaiting: Fault[] = [
  {
    row: 'L11',
    name: 'RabbitMQ killed while retries wait in it',
    settings,
    bars: { duplicates: HELD },
    run: underLoad(killWhileTheyWait, { releaseTimes: 10 }),
  },
  {
    row: 'L11',
    name: 'one retry taken away by hand, which must be missed',
    gates: true,
    bars: { duplicates: 0 },
    run: underLoad(takeOneAway),
  },
  {
    row: 'L11',
    name: 'RabbitMQ killed while they come due all at once',
    settings,
    bars: { duplicates: HELD + WAITING.release },
    run: underLoad(killWhileTheyComeDue),
  },
];

/** With retries of mixed ages: some are just on their way from the one queue to the other. */
async function killWhileTheyWait(stage: Stage, ledger: Ledger): Promise<void> {
  const { path, ...retries } = await retriesOf(stage, ledger);
  using load = retries.load;
  await untilTheyWait(stage);
  await until('the first come back', () =>
    stage.receiver.at(path).some(({ headers }) => headers['x-webhook-attempt'] === '2'),
  );
  await stage.stack.killRabbitmq();
  await load.stop();
}

async function killWhileTheyComeDue(stage: Stage, ledger: Ledger): Promise<void> {
  using load = (await retriesOf(stage, ledger)).load;
  await untilTheyWait(stage);
  await load.stop();
  const deliverer = stage.stack.stack.service('deliverer');
  await deliverer.stop();
  await onChannel(stage.stack.brokerUrl, async (channel) => {
    await waitTogether(channel, retryQueueOf(stage));
    await until('they come due', async () => (await channel.checkQueue(DELIVERY_QUEUE)).messageCount > 0);
  });
  await stage.stack.killRabbitmq();
  await deliverer.start();
}

/** Takes what waits and puts it back at once: it comes due at once. */
async function waitTogether(channel: ConfirmChannel, queue: string): Promise<void> {
  for (const { fields, properties, content } of await takeAll(channel, queue)) {
    const { messageId, type, correlationId, contentType } = properties;
    const same = { messageId, type, correlationId, contentType, persistent: true };
    channel.publish(fields.exchange, fields.routingKey, content, same);
  }
  await channel.waitForConfirms();
}

/** Publishes for a shipper whose receiver fails the first attempt at each delivery. */
async function retriesOf(stage: Stage, ledger: Ledger): Promise<{ load: Load; path: string }> {
  const wanted = { interface: 'shipper', action: 'order.paid', folder: '/waits', answers: [500, 200] } as const;
  const party = await subscribed(stage, wanted);
  const load = new Load({ ledger, parties: [party], eventsPerSecond: EVENTS_PER_SECOND[stage.scale] });
  return { load, path: party.addresses[0]?.path ?? '' };
}

/** Takes one message of retries of the load away. */
async function takeOneAway({ stack }: Stage, ledger: Ledger): Promise<void> {
  const queue = retryQueue(ACTION, scheduleOf(stack).shipper[0] ?? 0);
  const get = (channel: ConfirmChannel) => until('a retry waits', () => channel.get(queue, { noAck: true }));
  const taken = readMessage(queue, await onChannel(stack.brokerUrl, get));
  for (const { messageId } of openBatch(taken)) ledger.takenAway.add(String(messageId));
}

async function untilTheyWait(stage: Stage): Promise<void> {
  const [queue, count] = [retryQueueOf(stage), WAITING[stage.scale]];
  await until(`there are ${count} in ${queue}`, async () => {
    const [depth] = (await queueDepths({ url: stage.stack.brokerUrl }, [queue])) ?? [];
    return depth !== undefined && depth.messages >= count;
  });
}
