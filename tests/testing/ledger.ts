import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Channel, type Message } from 'amqplib';
import { queueDepths } from '@waybell/stack/queue-depths';
import { messageGuid } from '@waybell/event-router/message-guid';
import { asideHeaders } from '@waybell/line/broker/read-message';
import { isAttempted, readOutcomes, type Attempted, type Outcome } from '@waybell/line/outcomes';
import { outcomesExchange, rejectedQueue } from '@waybell/line/topology';
import { balance, endOf, endsOf, type Balance, type Owed, type Seen } from './balance.ts';
import type { PublishedEvent } from './event.ts';
import type { Receiver } from './receiver.ts';
import type { TestStack } from './test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

/** A message in the rejected queue. */
export type Rejected = { messageId: string; reason: string };

const OUTCOMES_COPY = 'waybell.outcomes.ledger';
const LOOK_PAUSE_MS = 250;
// A dead-lettered retry whose confirm got lost with the broker is published again after 180 s, where nobody set
// `dead_letter_worker_publisher_confirm_timeout`; until then no queue counts it.
const LONGEST_STALL_MS = 200_000;
/** For the broker to answer: one that stands still for a while has not gone. */
const ANSWER_LIMIT_MS = 60_000;

/**
 * Keeps count of what upstream was promised: each event that the broker confirmed, against what receivers saw, what
 * outcomes say and what was rejected. Outcomes wait in a queue of its own and are read when asked for, so that the
 * ledger needs no connection while the broker is down. Open it before the first event.
 */
export class Ledger {
  readonly #stack: TestStack;
  readonly #receiver: Receiver;
  readonly #owed: Owed[] = [];
  readonly #sentAt = new Map<string, number>();
  readonly #outcomes: Outcome[] = [];
  /** What came to the rejected queue since it was opened, and why. */
  readonly rejections: Rejected[] = [];
  published = 0;

  private constructor(stack: TestStack, receiver: Receiver) {
    this.#stack = stack;
    this.#receiver = receiver;
  }

  static async open(stack: TestStack, receiver: Receiver): Promise<Ledger> {
    const ledger = new Ledger(stack, receiver);
    await ledger.#onChannel(async (channel) => {
      // Not a quorum queue: RabbitMQ 3.10, killed within seconds of the declaration of one, never brings it back.
      await channel.assertQueue(OUTCOMES_COPY, { durable: true, arguments: { 'x-queue-type': 'classic' } });
      await channel.bindQueue(OUTCOMES_COPY, outcomesExchange, '');
      // What earlier loads left there is not this ledger's.
      await channel.purgeQueue(OUTCOMES_COPY);
      await channel.purgeQueue(rejectedQueue);
    });
    return ledger;
  }

  /** The broker has confirmed this event, begun to be published at `sentAt`, and these are to receive it. */
  confirmed(event: PublishedEvent, subscriptions: readonly string[], sentAt: number): void {
    this.published += 1;
    if (subscriptions.length === 0) this.#owed.push({ event: event.guid });
    for (const subscription of subscriptions) {
      const delivery = messageGuid(event.guid, subscription);
      this.#owed.push({ event: event.guid, subscription, delivery });
      this.#sentAt.set(delivery, sentAt);
    }
  }

  /** Resolves, with the seconds it took, when a receiver has seen an event whose publishing began after `since`. */
  async movedAgain(since: number): Promise<number> {
    const { received } = this.#receiver;
    let next = 0;
    return until('events published after the fault are delivered', () => {
      for (; next < received.length; next += 1) {
        const request = received[next];
        const sentAt = this.#sentAt.get(String(request?.headers['webhook-id']));
        if (request !== undefined && sentAt !== undefined && sentAt > since) return (request.at - since) / 1_000;
      }
      return false;
    });
  }

  /**
   * Waits until everything has come to its end and every queue of the line is empty; or until every queue is empty, no
   * request is open and nothing has happened for `stillMs`: then what has no end by now will never have one.
   */
  async untilQuiet({ stillMs = LONGEST_STALL_MS } = {}): Promise<void> {
    let last = '';
    let since = Date.now();
    let lookedAt = 0;
    await until(
      'the line is at rest',
      async () => {
        if (Date.now() - lookedAt < LOOK_PAUSE_MS) return false;
        await this.read();
        const { queues } = this.#stack.stack;
        const depths = (await queueDepths({ url: this.#stack.brokerUrl }, queues, ANSWER_LIMIT_MS)) ?? [];
        lookedAt = Date.now();
        const waiting = depths
          .filter(({ messages }) => messages > 0)
          .map(({ name, messages }) => `${name} ${messages}`);
        const signs = [this.#receiver.received.length, this.#receiver.unanswered, this.#outcomes.length, ...waiting];
        if (signs.join() !== last) since = lookedAt;
        last = signs.join();
        // A queue that nothing is said of may hold something.
        if (depths.length < queues.length || waiting.length > 0 || this.#receiver.unanswered > 0) return false;
        // Once more after the last end: a duplicate may still be on its way.
        return lookedAt - since >= (this.#isSettled() ? 2 * LOOK_PAUSE_MS : stillMs);
      },
      () => lookedAt,
    );
  }

  /** Waits until each of these deliveries, its own or not, has come to an end; resolves with all that is recorded of them. */
  async untilEnded(deliveries: readonly string[]): Promise<Attempted[]> {
    return until(`${deliveries.length} deliveries have ended`, async () => {
      await sleep(LOOK_PAUSE_MS);
      await this.read();
      const ends = endsOf(this.#outcomes, this.#rejected());
      return deliveries.every((delivery) => ends.has(delivery)) && this.#recordsOf(new Set(deliveries));
    });
  }

  /** Takes what has been recorded and rejected since it last looked. */
  async read(): Promise<void> {
    await this.#onChannel(async (channel) => {
      for (const { content } of await take(channel, OUTCOMES_COPY)) this.#outcomes.push(...readOutcomes(content));
      for (const { properties } of await take(channel, rejectedQueue)) {
        const { messageId, headers = {} } = properties;
        this.rejections.push({ messageId: String(messageId), reason: String(headers[asideHeaders.reason] ?? '') });
      }
    });
  }

  /** Every record of an outcome that came since it was opened; some may have come twice. */
  recorded(): readonly Outcome[] {
    return this.#outcomes;
  }

  balance(): Balance {
    return balance({ owed: this.#owed, seen: this.#seen(), outcomes: this.#outcomes, rejected: this.#rejected() });
  }

  #seen(): Seen[] {
    return this.#receiver.received.map(({ headers }) => ({
      delivery: String(headers['webhook-id']),
      attempt: Number(headers['x-webhook-attempt']),
    }));
  }

  #recordsOf(deliveries: ReadonlySet<string>): Attempted[] {
    return this.#outcomes.filter(isAttempted).filter(({ delivery }) => deliveries.has(delivery));
  }

  #rejected(): Set<string> {
    return new Set(this.rejections.map(({ messageId }) => messageId));
  }

  #isSettled(): boolean {
    const ends = endsOf(this.#outcomes, this.#rejected());
    return this.#owed.every((each) => endOf(each, ends) !== undefined);
  }

  async #onChannel(work: (channel: Channel) => Promise<void>): Promise<void> {
    const connection = await connect(this.#stack.brokerUrl, { timeout: ANSWER_LIMIT_MS });
    connection.on('error', () => undefined);
    try {
      const channel = await connection.createChannel();
      channel.on('error', () => undefined);
      await work(channel);
      await channel.close();
    } finally {
      await connection.close();
    }
  }
}

/** Takes what is in the queue now. */
async function take(channel: Channel, queue: string): Promise<Message[]> {
  const { messageCount } = await channel.checkQueue(queue);
  if (messageCount === 0) return [];
  const taken: Message[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  channel.once('close', () => reject(new Error(`${queue}: the channel closed`)));
  await channel.prefetch(messageCount);
  const { consumerTag } = await channel.consume(queue, (message) => {
    if (message !== null) taken.push(message);
    if (taken.length === messageCount) resolve();
  });
  await promise;
  await channel.cancel(consumerTag);
  channel.ackAll();
  return taken;
}
