import type { Channel, ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { PauseReasons } from '../broker.ts';
import type { Move, QueueUse } from '../prefetch-budget.ts';
import { close } from './broker-connection.ts';
import { ConsumedChannel, type ConsumedMessage, type Prefetch, Prefetches, type Weigh } from './consumed-channel.ts';

export type QueueConsumerOptions = {
  queue: string;
  onTaken: (source: ConsumedMessage) => void;
  /** Runs after a message was acknowledged or given back by this process. */
  onSettled: (source: ConsumedMessage) => void;
  onCut: (source: ConsumedMessage) => void;
  /** First prefetch on each new channel. */
  floor: number;
  /** Limit of its messages in hand. */
  limit: number;
  weigh: Weigh | undefined;
  log: Log;
  clock: Clock;
};

const REOPEN_DELAY_MS = 500;
const MANY_ACKNOWLEDGEMENTS = 30;

/**
 * Consumes one queue. Converges from the actual state (a channel and its consumers) to the wanted one, step by step:
 *
 *   NO CHANNEL ── connected(), or 0.5 s after a failure ──▶ CHANNEL, with a consumer for each prefetch
 *       ▲                                                      │ disconnected(); the queue is missing; the channel is closed:
 *       └──────────────────────────────────────────────────────┘ the broker has requeued what was in hand, and it is cut
 *
 * `pause()` cancels the consumers and keeps the channel, on which messages in hand are settled; `resume()` begins again with the
 * smallest prefetch. `close()` first makes sure that the queue has the acknowledgements.
 *
 * The prefetch of a consumer cannot be changed. So a queue that may send more gets another consumer, and a queue that shall send
 * less loses its newest: no message in hand has to go back, and the prefetches add up. One prefetch (`Prefetches`):
 *
 *   WANTED ─ opened ─▶ CONSUMING ─ apply(shrink), pause() ─▶ GIVEN UP ─ cancelled ─▶ CANCELLED ─ all it sent is settled ─▶ dropped
 *
 * One that is given up is cancelled when it is full, so that no message is on its way to it; at the latest at the next review, and
 * at once by a pause.
 *
 * `openConsumers` calls `connected`, `disconnected` and `close`; the `QueueGroup` of its step calls the rest.
 */
export class QueueConsumer {
  readonly queue: string;
  readonly #options: QueueConsumerOptions;
  #connection: ChannelModel | undefined;
  #consumed: ConsumedChannel | undefined;
  #prefetches = new Prefetches();
  readonly #pauses = new PauseReasons();
  #isClosed = false;
  #step: Promise<void> = Promise.resolve();
  #reopening: Timer | undefined;
  #warning: string | undefined;

  constructor(options: QueueConsumerOptions) {
    this.queue = options.queue;
    this.#options = options;
    this.#prefetches.grow(options.floor);
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#converge();
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#forget(this.#consumed);
  }

  pause(reason: string): Promise<void> {
    this.#pauses.pause(reason);
    this.#prefetches.giveUpAll();
    return this.#converge();
  }

  /** Consumes again once every reason for a pause is resumed. */
  resume(reason: string): void {
    if (!this.#pauses.resume(reason) || !this.#isWanted) return;
    this.#prefetches.grow(this.#options.floor);
    void this.#converge();
  }

  /** Messages taken and not settled. */
  get inHand(): number {
    return this.#prefetches.inHand;
  }

  isWaiting(): boolean {
    return this.#isWanted && !this.#prefetches.isConsuming;
  }

  get isConsuming(): boolean {
    return this.#isWanted && this.#prefetches.isConsuming;
  }

  review(): QueueUse {
    const use = this.#prefetches.review();
    if (this.#prefetches.next() !== undefined) void this.#converge();
    return use;
  }

  /** Whether every prefetch is used up at this moment. */
  get isFull(): boolean {
    return this.#prefetches.isFull;
  }

  /** Messages that its prefetches allow. */
  get granted(): number {
    return this.#prefetches.granted;
  }

  use(): QueueUse {
    return this.#prefetches.use();
  }

  apply(move: Move): void {
    if (move.kind === 'grow') this.#prefetches.grow(move.by);
    else this.#prefetches.shrink();
    void this.#converge();
  }

  /** Resolves when the queue has the acknowledgements and has requeued the rest. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reopening?.[Symbol.dispose]();
    await this.#step;
    const consumed = this.#consumed;
    consumed?.flush();
    this.#forget(consumed);
    if (consumed === undefined) return;
    try {
      await this.#flush(consumed.channel);
      await close(consumed.channel);
    } catch {
      // Already closed; the broker has requeued everything unacknowledged.
    }
  }

  /**
   * Waits until acknowledgements have reached the queue. A reply proves that the broker has read them. But beyond 32 at once, the
   * channel buffers the others for the quorum queue and loses them when it closes: opening and cancelling a consumer makes the queue
   * answer twice, which proves that they have arrived.
   */
  async #flush(channel: Channel): Promise<void> {
    await channel.prefetch(1);
    if (this.#options.limit < MANY_ACKNOWLEDGEMENTS) return;
    const { consumerTag } = await channel.consume(this.queue, () => undefined);
    await channel.cancel(consumerTag);
  }

  get #isWanted(): boolean {
    return !this.#pauses.isPaused && !this.#isClosed;
  }

  #converge(): Promise<void> {
    this.#step = this.#step.then(async () => {
      const connection = this.#connection;
      if (connection === undefined || this.#isClosed) return;
      try {
        this.#consumed ??= await this.#openChannel(connection);
        await this.#openAndCancel(this.#consumed);
        this.#warning = undefined;
      } catch (error) {
        this.#warn(error);
        this.#forget(this.#consumed);
        this.#reopenLater();
      }
    });
    return this.#step;
  }

  async #openChannel(connection: ChannelModel): Promise<ConsumedChannel> {
    const channel = await connection.createChannel();
    const isInUse = () => channel === this.#consumed?.channel;
    // The failed operation rejects too; without a listener the error would end the process.
    channel.on('error', (error: Error) => isInUse() && this.#warn(error));
    channel.on('close', () => {
      if (!isInUse()) return;
      this.#forget(this.#consumed);
      this.#reopenLater();
    });
    await channel.checkQueue(this.queue);
    const { onSettled, weigh } = this.#options;
    return new ConsumedChannel(channel, { queue: this.queue, prefetches: this.#prefetches, onSettled, weigh });
  }

  async #openAndCancel(consumed: ConsumedChannel): Promise<void> {
    const { prefetches } = consumed;
    for (let prefetch = prefetches.next(); prefetch !== undefined; prefetch = prefetches.next()) {
      if (prefetch.isWanted) await this.#open(consumed, prefetch);
      else await this.#cancel(consumed, prefetch);
    }
  }

  async #open(consumed: ConsumedChannel, prefetch: Prefetch): Promise<void> {
    const { channel } = consumed;
    prefetch.isOpen = true;
    await channel.prefetch(prefetch.size);
    const { consumerTag } = await channel.consume(this.queue, (raw) => {
      // null: the broker cancelled the consumer because the queue was deleted or moved.
      if (raw === null) return void channel.close().catch(() => undefined);
      // A connection that was given up may still deliver until it is closed; the broker requeues these.
      if (!consumed.isOpen) return;
      const source = consumed.take(raw, prefetch);
      if (!prefetch.isWanted) void this.#converge();
      this.#options.onTaken(source);
    });
    prefetch.tag = consumerTag;
  }

  async #cancel({ channel, prefetches }: ConsumedChannel, prefetch: Prefetch): Promise<void> {
    if (prefetch.tag !== undefined) await channel.cancel(prefetch.tag);
    prefetches.cancelled(prefetch);
  }

  #forget(consumed: ConsumedChannel | undefined): void {
    if (consumed !== this.#consumed) return;
    this.#consumed = undefined;
    // The broker has requeued all that came on the channel and is unsettled.
    this.#prefetches = new Prefetches();
    if (this.#isWanted) this.#prefetches.grow(this.#options.floor);
    for (const source of consumed?.lose() ?? []) this.#options.onCut(source);
  }

  #reopenLater(): void {
    if (this.#reopening !== undefined) return;
    this.#reopening = this.#options.clock.after(REOPEN_DELAY_MS, () => {
      this.#reopening = undefined;
      void this.#converge();
    });
    this.#reopening.unref();
  }

  /** Logs each new reason once: the queue is retried twice a second. */
  #warn(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#warning) return;
    this.#warning = reason;
    this.#options.log.warn({ queue: this.queue, reason }, 'queue.not-consumed');
  }
}
