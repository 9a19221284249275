import type { ConfirmChannel, GetMessage } from 'amqplib';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue, retryQueue } from '@waybell/line/topology';
import { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { until } from '@waybell/runtime/testing/until';
import { failingAtFirst } from '../failing-at-first.ts';
import { onChannel } from '../on-channel.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { inAll } from '../in-all.ts';
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
    isDaily: true,
    settings,
    bars: { duplicates: HELD },
    run: killedWhileTheyWait,
  },
  {
    row: 'L11',
    name: 'one retry taken away by hand, which must be missed',
    isDaily: true,
    settings,
    bars: { duplicates: 0 },
    run: oneTakenAway,
  },
  {
    row: 'L11',
    name: 'RabbitMQ killed while they come due all at once',
    isDaily: false,
    settings,
    bars: { duplicates: HELD + WAITING.release },
    run: killedWhileTheyComeDue,
  },
];

async function killedWhileTheyWait(stage: Stage): Promise<Course> {
  const rounds: Course[] = [];
  for (let kill = 1; kill <= KILLS[stage.scale]; kill += 1) {
    const { ledger, movingAgainSeconds } = await killWhileTheyWait(stage, `/waits/${kill}`);
    await ledger.untilQuiet();
    rounds.push({ published: ledger.published, balance: ledger.balance(), movingAgainSeconds });
  }
  return inAll(rounds);
}

async function killedWhileTheyComeDue(stage: Stage): Promise<Course> {
  const ledger = await killWhileTheyComeDue(stage, '/due');
  await ledger.untilQuiet();
  return { published: ledger.published, balance: ledger.balance() };
}

async function killWhileTheyComeDue(stage: Stage, path: string): Promise<Ledger> {
  const ledger = await Ledger.open(stage.stack, stage.receiver);
  using load = await loadOf(stage, { ledger, path });
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
  return ledger;
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

type Killed = { ledger: Ledger; movingAgainSeconds: number };

async function killWhileTheyWait(stage: Stage, path: string): Promise<Killed> {
  const ledger = await Ledger.open(stage.stack, stage.receiver);
  using load = await loadOf(stage, { ledger, path });
  await untilTheyWait(stage);
  // Of mixed ages: some are just on their way from the one queue to the other.
  await until('the first come back', () =>
    stage.receiver.at(path).some(({ headers }) => headers['x-webhook-attempt'] === '2'),
  );
  const since = performance.now();
  await killBroker(stage);
  const before = ledger.published;
  await until('there is load again', () => ledger.published >= before + AFTERWARDS);
  // Stopped before it is waited for: a slow machine publishes more meanwhile than it delivers.
  await load.stop();
  const movingAgainSeconds = await ledger.movedAgain(since);
  return { ledger, movingAgainSeconds };
}

async function loadOf(stage: Stage, { ledger, path }: { ledger: Ledger; path: string }): Promise<Load> {
  const { upstream } = stage.stack;
  const parties = [await failingAtFirst(stage, path)];
  return new Load({ upstream, ledger, parties, eventsPerSecond: EVENTS_PER_SECOND[stage.scale] });
}

async function killBroker({ stack }: Stage): Promise<void> {
  const broker = stack.stack.servers.process('rabbitmq');
  await broker.kill();
  await until('RabbitMQ is back', () => broker.state === 'ready');
}

async function oneTakenAway(stage: Stage): Promise<Course> {
  const { stack, receiver } = stage;
  const ledger = await Ledger.open(stack, receiver);
  const party = await failingAtFirst(stage, '/vanishes');
  // Event by event until one waits: of those published before, all may have come back while the deliverer stood still.
  await onChannel(stage, async (channel) =>
    until('one is taken away', async () => {
      const event = party.anEvent();
      await stack.upstream.publish(event);
      ledger.confirmed(event, party.subscriptions, performance.now());
      return (await channel.get(retryQueueOf(stage), { noAck: true })) !== false;
    }),
  );
  await ledger.untilQuiet({ stillMs: 3_000 });
  return mustMissSome(ledger);
}

/** What is missed was meant to be: it does not count as lost. */
function mustMissSome(ledger: Ledger): Course {
  const { lost, ...balance } = ledger.balance();
  const problems = lost.length > 0 ? [] : ['nothing was missed: this bench would not see a loss'];
  return { published: ledger.published, balance: { ...balance, lost: [] }, problems };
}

async function untilTheyWait(stage: Stage): Promise<void> {
  const [queue, count] = [retryQueueOf(stage), WAITING[stage.scale]];
  await until(`there are ${count} in ${queue}`, async () => {
    const [depth] = (await queueDepths({ url: stage.stack.brokerUrl }, [queue])) ?? [];
    return depth !== undefined && depth.messages >= count;
  });
}
