import type { Channel, ChannelModel } from 'amqplib';
import type { Log } from '@waybell/runtime/log';
import { hold, type Held } from './held.ts';

type QueueConsumerOptions = { queue: string; prefetch: number; onMessage: (held: Held) => void; log: Log };

const REOPEN_DELAY_MS = 500;
const MANY_ACKNOWLEDGEMENTS = 30;

/** Consumes one queue: brings what is (a channel, a consumer on it) to what is wanted, one step at a time. */
export class QueueConsumer {
  readonly queue: string;
  readonly #options: QueueConsumerOptions;
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;
  #tag: string | undefined;
  #isWanted = true;
  #isClosed = false;
  #step: Promise<void> = Promise.resolve();
  #reopening: NodeJS.Timeout | undefined;
  #complaint: string | undefined;

  constructor(options: QueueConsumerOptions) {
    this.queue = options.queue;
    this.#options = options;
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#converge();
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#forget(this.#channel);
  }

  pause(): Promise<void> {
    this.#isWanted = false;
    return this.#converge();
  }

  resume(): void {
    this.#isWanted = true;
    void this.#converge();
  }

  isWaiting(): boolean {
    return this.#isWanted && this.#tag === undefined;
  }

  /** Resolves when the acknowledgements have arrived, and the rest is back in the queue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isWanted = false;
    clearTimeout(this.#reopening);
    await this.#step;
    const channel = this.#channel;
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
    if (this.#options.prefetch < MANY_ACKNOWLEDGEMENTS) return;
    const { consumerTag } = await channel.consume(this.queue, () => undefined);
    await channel.cancel(consumerTag);
  }

  #converge(): Promise<void> {
    this.#step = this.#step.then(async () => {
      const connection = this.#connection;
      if (connection === undefined || this.#isClosed) return;
      try {
        this.#channel ??= await this.#openChannel(connection);
        await this.#startOrStop(this.#channel);
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
    await channel.prefetch(this.#options.prefetch);
    return channel;
  }

  async #startOrStop(channel: Channel): Promise<void> {
    if (this.#isWanted && this.#tag === undefined) {
      const isOpen = () => this.#channel === channel;
      const { consumerTag } = await channel.consume(this.queue, (raw) => {
        // null: the broker cancelled the consumer, because the queue was deleted or moved.
        if (raw === null) channel.close().catch(() => undefined);
        else this.#options.onMessage(hold(raw, { queue: this.queue, channel, isOpen }));
      });
      this.#tag = consumerTag;
    } else if (!this.#isWanted && this.#tag !== undefined) {
      const tag = this.#tag;
      this.#tag = undefined;
      await channel.cancel(tag);
    }
  }

  #forget(channel: Channel | undefined): void {
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    this.#tag = undefined;
  }

  #reopenLater(): void {
    this.#reopening ??= setTimeout(() => {
      this.#reopening = undefined;
      void this.#converge();
    }, REOPEN_DELAY_MS).unref();
  }

  /** Once for each new reason: it is tried twice a second. */
  #complain(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#options.log.warn({ queue: this.queue, reason }, 'queue.not-consumed');
  }
}
