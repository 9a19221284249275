import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ChannelModel } from 'amqplib';
import type { Log } from '@waybell/runtime/log';
import type { Message } from '../messages.ts';
import { openLink } from './link.ts';
import { readMessage } from './read-message.ts';

/** A message taken from a queue, and the only two things that may be done with it. */
export type Held = {
  message: Message;
  /** Removes it from its queue. Without effect once the channel it came by is gone: the broker has it back then. */
  ack(): void;
  /** Puts it back where it was. */
  giveBack(): void;
  /** False once the broker has taken it back by itself. */
  isHeld(): boolean;
};

export type Consumer = {
  /** Takes no more; what is held stays held. */
  pause(): void;
  resume(): void;
};

export type Consumers = AsyncDisposable & {
  /** Takes from `queue`, at most `prefetch` at once, over every reconnect and whether or not the queue exists yet. */
  consume(queue: string, prefetch: number, onMessage: (held: Held) => void): Consumer;
  /** Queues that are wanted and not consumed at the moment. */
  waitingFor(): string[];
};

export type ConsumersOptions = { url: string; name: string; heartbeatSeconds: number; log: Log };

const REOPEN_DELAY_MS = 500;

/**
 * One connection for consuming, one channel a queue: what goes wrong with one queue (deleted, refused, an ack too
 * late) closes its channel and no other.
 */
export async function openConsumers(options: ConsumersOptions): Promise<Consumers> {
  const queues: QueueConsumer[] = [];
  let connection: ChannelModel | undefined;
  const link = await openLink({
    ...options,
    name: `${options.name} consume`,
    onOpen: async (opened) => {
      connection = opened;
      for (const queue of queues) queue.connected(opened);
    },
    onDown: () => {
      connection = undefined;
      for (const queue of queues) queue.disconnected();
    },
  });
  return {
    consume(queue, prefetch, onMessage) {
      const consumer = new QueueConsumer({ queue, prefetch, onMessage, log: options.log });
      queues.push(consumer);
      if (connection !== undefined) consumer.connected(connection);
      return consumer;
    },
    waitingFor: () => queues.filter((queue) => queue.isWaiting()).map(({ queue }) => queue),
    async [Symbol.asyncDispose]() {
      await Promise.all(queues.map((queue) => queue.close()));
      await link[Symbol.asyncDispose]();
    },
  };
}

type QueueConsumerOptions = { queue: string; prefetch: number; onMessage: (held: Held) => void; log: Log };

/** Brings what is (a channel, a consumer on it) to what is wanted, one step at a time. */
class QueueConsumer implements Consumer {
  readonly queue: string;
  readonly #options: QueueConsumerOptions;
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;
  #tag: string | undefined;
  #isWanted = true;
  #isClosed = false;
  #step: Promise<void> = Promise.resolve();

  constructor(options: QueueConsumerOptions) {
    this.queue = options.queue;
    this.#options = options;
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    this.#converge();
  }

  disconnected(): void {
    this.#connection = undefined;
    this.#lose(this.#channel);
  }

  pause(): void {
    this.#isWanted = false;
    this.#converge();
  }

  resume(): void {
    this.#isWanted = true;
    this.#converge();
  }

  isWaiting(): boolean {
    return this.#isWanted && this.#tag === undefined;
  }

  /** A reply on the channel shows that the acknowledgements before it have arrived. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isWanted = false;
    await this.#step;
    const channel = this.#channel;
    this.#lose(channel);
    try {
      await channel?.prefetch(1);
      await channel?.close();
    } catch {
      // Already gone; the broker has taken back what was not acknowledged.
    }
  }

  #converge(): void {
    this.#step = this.#step.then(async () => {
      const connection = this.#connection;
      if (connection === undefined || this.#isClosed) return;
      try {
        this.#channel ??= await this.#openChannel(connection);
        await this.#startOrStop(this.#channel);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.log.warn({ queue: this.queue, reason }, 'queue.not-consumed');
        this.#lose(this.#channel);
        this.#reopenLater();
      }
    });
  }

  async #openChannel(connection: ChannelModel): Promise<Channel> {
    const channel = await connection.createChannel();
    channel.on('error', (error: Error) =>
      this.#options.log.warn({ queue: this.queue, reason: error.message }, 'channel.failed'),
    );
    channel.on('close', () => {
      if (this.#channel !== channel) return;
      this.#lose(channel);
      this.#reopenLater();
    });
    await channel.checkQueue(this.queue);
    await channel.prefetch(this.#options.prefetch);
    return channel;
  }

  async #startOrStop(channel: Channel): Promise<void> {
    if (this.#isWanted && this.#tag === undefined) {
      const { consumerTag } = await channel.consume(this.queue, (raw) => {
        // null: the broker cancelled the consumer, because the queue was deleted or moved.
        if (raw === null) channel.close().catch(() => undefined);
        else this.#options.onMessage(hold(channel, raw, readMessage(this.queue, raw), () => this.#channel === channel));
      });
      this.#tag = consumerTag;
    } else if (!this.#isWanted && this.#tag !== undefined) {
      const tag = this.#tag;
      this.#tag = undefined;
      await channel.cancel(tag);
    }
  }

  #lose(channel: Channel | undefined): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#tag = undefined;
  }

  #reopenLater(): void {
    void sleep(REOPEN_DELAY_MS, undefined, { ref: false }).then(() => this.#converge());
  }
}

function hold(channel: Channel, raw: Parameters<Channel['ack']>[0], message: Message, isOpen: () => boolean): Held {
  let isSettled = false;
  // An acknowledgement on a channel that is gone throws; on its successor it would close that one too.
  const settle = (how: () => void) => {
    if (isSettled || !isOpen()) return;
    isSettled = true;
    try {
      how();
    } catch {
      // The channel went just now.
    }
  };
  return {
    message,
    ack: () => settle(() => channel.ack(raw)),
    giveBack: () => settle(() => channel.nack(raw, false, true)),
    isHeld: () => !isSettled && isOpen(),
  };
}
