import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from 'amqplib';
import { queueDepths } from '@waybell/stack/queue-depths';
import { DEAD_LETTER_TIMEOUT_MS } from '@waybell/stack/rabbitmq';
import { readMessage } from '@waybell/line/broker/amqp-message';
import { openBatch } from '@waybell/line/delivery-batch';
import { waybellHeaders } from '@waybell/line/messages';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { isAttempted, type Attempted, type Outcome } from '@waybell/line/outcomes';
import { isForUpstream, outcomesExchange, rejectedQueue } from '@waybell/line/topology';
import { addressesIn } from '@waybell/runtime/addresses';
import { until } from '@waybell/runtime/testing/until';
import { balance, withoutEnd, type Balance } from './balance.ts';
import type { Books, Rejection, Seen } from './books.ts';
import { ANSWER_LIMIT_MS, onChannel } from './on-channel.ts';
import type { Owed } from './owed.ts';
import type { Receiver } from './receiver.ts';
import type { Party } from './subscribers.ts';
import { scheduleOf } from './schedule-of.ts';
import { takeAll } from './take-all.ts';
import type { TestStack } from './test-stack.ts';
import { unexpected, type Malformed } from './unexpected.ts';

const OUTCOMES_COPY = 'waybell.outcomes.ledger';
const LOOK_PAUSE_MS = 250;
/** No service waits longer for anything before it tries again: what has not moved for so long never will. */
const STALL_MS = 120_000;

type Entry = { owed: Owed; row: string };

/**
 * Compares expectations with observations: for each event that the broker confirmed, its expected ends; and the receivers'
 * requests, outcomes and rejections. Outcomes wait in a queue of its own and are read on request, so that the ledger needs no
 * connection while the broker is down. Open it before the first event.
 */
export class Ledger {
  readonly #stack: TestStack;
  readonly #receiver: Receiver;
  /** Requests that came before are not this ledger's. */
  readonly #from: number;
  readonly #entries: Entry[] = [];
  readonly #sentAt = new Map<string, number>();
  readonly #outcomes: Outcome[] = [];
  readonly #rejections: Rejection[] = [];
  /** Deliveries taken away by hand, or with the files of Postgres: these, and no others, may be missed. */
  readonly takenAway = new Set<string>();
  readonly malformed: Malformed[] = [];
  published = 0;
  #row = '';
  #counts = '';
  #signs = '';
  #stillSince = 0;

  private constructor(stack: TestStack, receiver: Receiver) {
    this.#stack = stack;
    this.#receiver = receiver;
    this.#from = receiver.received.length;
  }

  static async open(stack: TestStack, receiver: Receiver): Promise<Ledger> {
    const ledger = new Ledger(stack, receiver);
    await onChannel(stack.brokerUrl, async (channel) => {
      // On a single node a classic queue: RabbitMQ 3.10, killed within seconds of declaring a quorum queue, never brings it back.
      const type = addressesIn(stack.brokerUrl).length > 1 ? 'quorum' : 'classic';
      await channel.assertQueue(OUTCOMES_COPY, { durable: true, arguments: { 'x-queue-type': type } });
      await channel.bindQueue(OUTCOMES_COPY, outcomesExchange, '');
      // Messages of earlier loads are not this ledger's.
      await channel.purgeQueue(OUTCOMES_COPY);
      await channel.purgeQueue(rejectedQueue);
    });
    return ledger;
  }

  /** Assigns events confirmed from now on to this row. */
  begin(row: string): void {
    this.#row = row;
    this.published = 0;
  }

  /** Publishes an event of the party as an upstream with an outbox does. Expects its ends once the broker has confirmed it. */
  async publish(party: Party, extra?: Options.Publish): Promise<void> {
    const [event, sentAt] = [party.anEvent(), performance.now()];
    await this.#stack.upstream.publishUntilConfirmed(event, extra);
    this.published += 1;
    const owing = party.owes(event);
    this.owe(owing);
    for (const { to } of owing) if (to !== undefined) this.#sentAt.set(to.delivery, sentAt);
  }

  /** When the publishing of its event began; undefined where it is not one of this ledger. */
  sentAt(delivery: string): number | undefined {
    return this.#sentAt.get(delivery);
  }

  /** Expects these ends as well, however the event came onto the line. */
  owe(owing: readonly Owed[]): void {
    for (const owed of owing) this.#entries.push({ owed, row: this.#row });
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

  /** Whether a receiver has seen an event whose publishing began after `since`. */
  hasMovedSince(since: number): boolean {
    return this.#receiver.received.some(
      ({ headers }) => (this.#sentAt.get(String(headers['webhook-id'])) ?? 0) > since,
    );
  }

  /** Waits until everything has come to an end, every queue is empty, nothing waits for RabbitMQ and no request is open; or nothing moves any more. */
  async untilSettled(): Promise<void> {
    await this.#untilStill(0);
  }

  /** Waits, after that, longer than the longest thing that can still come: a duplicate, a retry that was held back. */
  async untilQuiet(): Promise<void> {
    const { shipper, carrier } = scheduleOf(this.#stack);
    await this.#untilStill(DEAD_LETTER_TIMEOUT_MS + Math.max(...shipper, ...carrier) + LOOK_PAUSE_MS);
  }

  /** Waits until each of these deliveries, its own or not, has come to an end; resolves with all that is recorded of them. */
  async untilEnded(deliveries: readonly string[]): Promise<Attempted[]> {
    const wanted = new Set(deliveries);
    return until(`${deliveries.length} deliveries have ended`, async () => {
      await sleep(LOOK_PAUSE_MS);
      await this.read();
      const records = this.#outcomes.filter(isAttempted).filter(({ delivery }) => wanted.has(delivery));
      const ends = records.filter(({ kind }) => kind !== 'failed').map(({ delivery }) => delivery);
      const ended = new Set([...ends, ...this.#rejections.map(({ messageId }) => messageId)]);
      return deliveries.every((delivery) => ended.has(delivery)) && records;
    });
  }

  /** Takes what has been recorded and rejected since it last looked. */
  async read(): Promise<void> {
    await onChannel(this.#stack.brokerUrl, async (channel) => {
      for (const { content } of await takeAll(channel, OUTCOMES_COPY)) this.#outcomes.push(...readOutcomes(content));
      for (const rejected of await takeAll(channel, rejectedQueue)) {
        const reason = String(rejected.properties.headers?.[waybellHeaders.reason] ?? '');
        for (const { messageId, body } of openBatch(readMessage(rejectedQueue, rejected)))
          this.#rejections.push({ messageId: String(messageId), reason, body: body.toString('latin1') });
      }
    });
  }

  /** Every record of an outcome that came since it was opened; some may have come twice. */
  recorded(): readonly Outcome[] {
    return this.#outcomes;
  }

  /** The balance of one row, or of everything. */
  balance(row?: string): Balance {
    return balance(this.#books(row));
  }

  /** Returns requests that no receiver should have got, and malformed events that were not rejected so. */
  unexpected(): string[] {
    return unexpected(this.#books(), this.malformed);
  }

  #books(row?: string): Books {
    const owed = this.#entries.filter((entry) => row === undefined || entry.row === row).map((entry) => entry.owed);
    const seen = this.#receiver.received.slice(this.#from).map(({ path, headers, body, answered }): Seen => {
      const [delivery, token] = [String(headers['webhook-id']), String(headers['x-service-verification-token'])];
      const attempt = Number(headers['x-webhook-attempt']);
      return { delivery, attempt, path, token, body, ...(answered !== undefined && { answered }) };
    });
    return { owed, seen, outcomes: this.#outcomes, rejections: this.#rejections };
  }

  /** Waits until all has ended and nothing has happened for `stillMs`; what has no end by `STALL_MS` never will. */
  async #untilStill(stillMs: number): Promise<void> {
    for (;;) {
      await this.read();
      const { received, unanswered } = this.#receiver;
      const counts = [received.length, unanswered, this.#outcomes.length, this.#rejections.length].join();
      // To ask for every queue costs much, and what moves is not at rest.
      const isMoving = counts !== this.#counts;
      const [waiting, buffered] = isMoving ? [[], undefined] : [await this.#waiting(), await this.#publications()];
      const signs = [counts, buffered, ...waiting].join();
      if (isMoving || signs !== this.#signs) this.#stillSince = performance.now();
      [this.#counts, this.#signs] = [counts, signs];
      const stillForMs = performance.now() - this.#stillSince;
      const isIdle = waiting.length === 0 && unanswered === 0 && buffered === 0;
      if (isIdle && stillForMs >= stillMs && this.#hasAllEnded()) return;
      if (stillForMs >= STALL_MS) return assertEmpty(waiting);
      await sleep(LOOK_PAUSE_MS);
    }
  }

  /** Returns non-empty queues with their sizes, and those of unknown size. */
  async #waiting(): Promise<string[]> {
    const queues = this.#stack.stack.queues.filter((queue) => !isForUpstream(queue));
    const depths = (await queueDepths({ url: this.#stack.brokerUrl }, queues, ANSWER_LIMIT_MS)) ?? [];
    const said = new Map(depths.map((depth) => [depth.name, depth]));
    return queues.flatMap((name) => {
      const { messages, isKnown } = said.get(name) ?? { messages: 0, isKnown: false };
      if (messages > 0) return [`${name} holds ${messages}`];
      return isKnown ? [] : [`${name} does not tell`];
    });
  }

  /** Publications in waiting rooms: those that a process had that died come again when its claim is over. */
  async #publications(): Promise<number | undefined> {
    const { postgres } = this.#stack;
    // Release 0.3.0 has them in rooms.
    const { rows: tables } = await postgres.query(`select where to_regclass('waybell.outbox') is not null`);
    const { rows } = await postgres.query<{ waiting: number }>(
      `select (select count(*) from waybell.rooms join waybell.waiting using (service, room) where name is not null)::int
        ${tables.length > 0 ? '+ (select count(*) from waybell.outbox)::int' : ''} as waiting`,
    );
    return rows[0]?.waiting;
  }

  #hasAllEnded(): boolean {
    const open = withoutEnd(this.#books()).filter(({ to }) => !this.takenAway.has(to?.delivery ?? ''));
    return open.length === 0 && this.#rejections.length >= this.malformed.length;
  }
}

/** Requires empty queues: messages in a queue are neither lost nor ended. */
function assertEmpty(waiting: readonly string[]): void {
  if (waiting.length > 0) throw new Error(`nothing has moved for ${STALL_MS / 1_000} s: ${waiting.join(', ')}`);
}
