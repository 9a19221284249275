import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import { Queue } from 'bullmq';
import { eventsQueueName, redisConnection } from '../comparators/bullmq/queues.ts';
import { serve } from '../lib/part.ts';
import { chooseSubscriber, eventFor, type UpstreamEvent, type Workload } from '../lib/workload.ts';

/** Upstream: publishes events, confirmed, at a rate or as fast as they are delivered. */
export type PublisherCommands = typeof commands;

/** The destination of events: an exchange of the broker, or BullMQ's queue of events. */
export type PublishTarget = { url: string; exchange: string } | { url: string; bullmq: true };

export type Pace =
  /** An even rate, independent of the results: a contender that falls behind does not slow it down. */
  | { kind: 'rate'; perSecond: number }
  /** At most this many are on their way. */
  | { kind: 'full'; onTheWay: number }
  /** A fixed number, as fast as they are confirmed. */
  | { kind: 'all'; events: number };

type Send = (event: UpstreamEvent) => Promise<unknown>;
type Upstream = { send: Send; close: () => Promise<void> };

const TICK_MS = 2;
const UNCONFIRMED_LIMIT = 1_000;

let upstream: Upstream | undefined;
let running: Promise<void> | undefined;
let isStopped = false;
let published = 0;
const publishedByAction = new Map<string, number>();
let unconfirmed = 0;
let delivered = 0;
let failure: unknown;

async function run(send: Send, workload: Workload, pace: Pace): Promise<void> {
  const beganMs = performance.now();
  const before = published;
  /** How many are due by now; at a rate, each at its own moment. */
  const due = () => {
    if (pace.kind === 'rate') return before + ((performance.now() - beganMs) / 1_000) * pace.perSecond;
    return pace.kind === 'all' ? before + pace.events : delivered + pace.onTheWay;
  };
  const intendedMs = () =>
    performance.timeOrigin +
    (pace.kind === 'rate' ? beganMs + ((published - before) / pace.perSecond) * 1_000 : performance.now());
  while (!isStopped && failure === undefined) {
    while (published < due() && unconfirmed < UNCONFIRMED_LIMIT) {
      const event = eventFor(chooseSubscriber(workload, Math.random), intendedMs());
      published += 1;
      publishedByAction.set(event.actionKey, (publishedByAction.get(event.actionKey) ?? 0) + 1);
      unconfirmed += 1;
      send(event).then(
        () => (unconfirmed -= 1),
        (error: unknown) => (failure = error),
      );
    }
    if (pace.kind === 'all' && published >= due()) return;
    await sleep(TICK_MS);
  }
}

async function amqpUpstream(url: string, exchange: string): Promise<Upstream> {
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  return {
    send: ({ actionKey, guid, body }) =>
      new Promise<void>((resolve, reject) => {
        const options = { persistent: true, contentType: 'application/json', messageId: guid };
        channel.publish(exchange, actionKey, body, options, (error: unknown) => {
          if (error === null) resolve();
          else reject(new Error('the broker refused an event'));
        });
      }),
    close: () => connection.close(),
  };
}

async function bullmqUpstream(url: string): Promise<Upstream> {
  const queue = new Queue(eventsQueueName, { connection: redisConnection(url) });
  const options = { removeOnComplete: true };
  return {
    send: ({ body }) => queue.add('event', JSON.parse(body.toString()), options),
    close: () => queue.close(),
  };
}

const commands = {
  async connect(target: PublishTarget): Promise<void> {
    upstream = await ('bullmq' in target ? bullmqUpstream(target.url) : amqpUpstream(target.url, target.exchange));
    delivered = published;
  },
  async disconnect(): Promise<void> {
    await upstream?.close();
    upstream = undefined;
  },
  /** Begins, and goes on until `stop`. */
  start({ workload, pace }: { workload: Workload; pace: Pace }): void {
    if (upstream === undefined) throw new Error('nowhere to publish to');
    isStopped = false;
    running = run(upstream.send, workload, pace);
  },
  /** How many of all that was published have arrived. */
  delivered(count: number): void {
    delivered = count;
  },
  published: (): number => published,
  publishedOf: (actionKey: string): number => publishedByAction.get(actionKey) ?? 0,
  /** Resolves when all that was to be published is confirmed. */
  async finish(): Promise<number> {
    await running;
    while (unconfirmed > 0 && failure === undefined) await sleep(TICK_MS);
    if (failure !== undefined) throw failure;
    return published;
  },
  async stop(): Promise<number> {
    isStopped = true;
    return commands.finish();
  },
};

serve(commands);
