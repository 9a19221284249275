import type { Channel, ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Move, QueueUse } from '../prefetch-budget.ts';
import { Acknowledger } from './acknowledger.ts';
import { Grants, type Grant } from './grants.ts';
import { hold, type Held } from './held.ts';

export type QueueConsumerOptions = {
  queue: string;
  /** What the queue may send at first, on each new channel. */
  floor: number;
  /** What is ever held of it, at most. */
  limit: number;
  onMessage: (held: Held) => void;
  log: Log;
  clock: Clock;
};

type Opening = { channel: Channel; acknowledger: Acknowledger; grants: Grants; grant: Grant };

const REOPEN_DELAY_MS = 500;
const MANY_ACKNOWLEDGEMENTS = 30;

/**
 * Consumes one queue: brings what is (a channel, consumers on it) to what is wanted, one step at a time.
 *
 * A prefetch belongs to a consumer and stays as it is. So a queue that may send more gets another consumer, and one
 * that is to send less loses its last: nothing that is held goes back for it, and what is granted adds up.
 */
export class QueueConsumer {
  readonly queue: string;
  readonly #options: QueueConsumerOptions;
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;
  #acknowledger: Acknowledger | undefined;
  #grants = new Grants();
  readonly #pausedFor = new Set<string>();
  #isClosed = false;
  #step: Promise<void> = Promise.resolve();
  #reopening: Timer | undefined;
  #complaint: string | undefined;

  constructor(options: QueueConsumerOptions) {
    this.queue = options.queue;
    this.#options = options;
    this.#grants.grow(options.floor);
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#converge();
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#forget(this.#channel);
  }

  pause(reason: string): Promise<void> {
    this.#pausedFor.add(reason);
    this.#grants.giveUpAll();
    return this.#converge();
  }

  /** Takes again once every reason for a pause is gone. */
  resume(reason: string): void {
    if (!this.#pausedFor.delete(reason) || !this.#isWanted) return;
    this.#grants.grow(this.#options.floor);
    void this.#converge();
  }

  /** Messages taken and not settled. */
  get held(): number {
    return this.#grants.held;
  }

  isWaiting(): boolean {
    return this.#isWanted && !this.#grants.isConsuming;
  }

  review(): QueueUse {
    const use = this.#grants.review();
    if (this.#grants.next() !== undefined) void this.#converge();
    return use;
  }

  /** Whether it could do with more at this moment. */
  get isFull(): boolean {
    return this.#grants.isFull;
  }

  use(): QueueUse {
    return this.#grants.use();
  }

  apply(move: Move): void {
    if (move.kind === 'grow') this.#grants.grow(move.by);
    else this.#grants.shrink();
    void this.#converge();
  }

  /** Resolves when the acknowledgements have arrived, and the rest is back in the queue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reopening?.[Symbol.dispose]();
    await this.#step;
    const channel = this.#channel;
    this.#acknowledger?.send();
    this.#forget(channel);
    if (channel === undefined) return;
    try {
      await this.#flush(channel);
      await channel.close();
    } catch {
      // Already gone; the broker has taken back what was not acknowledged.
    }
  }

  /**
   * A reply shows that the broker has read what was sent before. But a quorum queue that is given more than 32
   * acknowledgements at once keeps the others in the channel, which forgets them when it closes: they have reached the
   * queue when it has answered twice, as it does to a consumer that comes and goes.
   */
  async #flush(channel: Channel): Promise<void> {
    await channel.prefetch(1);
    if (this.#options.limit < MANY_ACKNOWLEDGEMENTS) return;
    const { consumerTag } = await channel.consume(this.queue, () => undefined);
    await channel.cancel(consumerTag);
  }

  get #isWanted(): boolean {
    return this.#pausedFor.size === 0 && !this.#isClosed;
  }

  #converge(): Promise<void> {
    this.#step = this.#step.then(async () => {
      const connection = this.#connection;
      if (connection === undefined || this.#isClosed) return;
      try {
        this.#channel ??= await this.#openChannel(connection);
        this.#acknowledger ??= new Acknowledger(this.#channel);
        await this.#openAndCancel(this.#channel, this.#acknowledger);
        this.#complaint = undefined;
      } catch (error) {
        this.#complain(error);
        this.#forget(this.#channel);
        this.#reopenLater();
      }
    });
    return this.#step;
  }

  async #openChannel(connection: ChannelModel): Promise<Channel> {
    const channel = await connection.createChannel();
    // Whoever used the channel hears of it too; without a listener it would end the process.
    channel.on('error', (error: Error) => channel === this.#channel && this.#complain(error));
    channel.on('close', () => {
      if (channel !== this.#channel) return;
      this.#forget(channel);
      this.#reopenLater();
    });
    await channel.checkQueue(this.queue);
    return channel;
  }

  async #openAndCancel(channel: Channel, acknowledger: Acknowledger): Promise<void> {
    const grants = this.#grants;
    for (let grant = grants.next(); grant !== undefined; grant = grants.next()) {
      if (grant.isWanted) await this.#open({ channel, acknowledger, grants, grant });
      else await this.#cancel({ channel, grants, grant });
    }
  }

  async #open({ channel, acknowledger, grants, grant }: Opening): Promise<void> {
    const isOpen = () => this.#channel === channel;
    grant.isOpen = true;
    await channel.prefetch(grant.size);
    const { consumerTag } = await channel.consume(this.queue, (raw) => {
      // null: the broker cancelled the consumer, because the queue was deleted or moved.
      if (raw === null) return void channel.close().catch(() => undefined);
      grants.taken(grant, raw.content.length);
      if (!grant.isWanted) void this.#converge();
      this.#options.onMessage(
        hold(raw, { queue: this.queue, acknowledger, isOpen, onSettled: () => grants.settled(grant) }),
      );
    });
    grant.tag = consumerTag;
  }

  async #cancel({ channel, grants, grant }: Omit<Opening, 'acknowledger'>): Promise<void> {
    if (grant.tag !== undefined) await channel.cancel(grant.tag);
    grants.cancelled(grant);
  }

  #forget(channel: Channel | undefined): void {
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    this.#acknowledger = undefined;
    // With the channel all it held is gone.
    this.#grants = new Grants();
    if (this.#isWanted) this.#grants.grow(this.#options.floor);
  }

  #reopenLater(): void {
    if (this.#reopening !== undefined) return;
    this.#reopening = this.#options.clock.after(REOPEN_DELAY_MS, () => {
      this.#reopening = undefined;
      void this.#converge();
    });
    this.#reopening.unref();
  }

  /** Once for each new reason: it is tried twice a second. */
  #complain(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#options.log.warn({ queue: this.queue, reason }, 'queue.not-consumed');
  }
}
