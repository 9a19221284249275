import type { ChannelModel } from 'amqplib';
import type { Log } from '@waybell/runtime/log';
import type { Held } from './held.ts';
import { openLink } from './link.ts';
import { QueueConsumer } from './queue-consumer.ts';
import { within } from './within.ts';

export type Consumer = {
  /** Takes no more; what is held stays held. Resolves when the broker will send nothing further. */
  pause(): Promise<void>;
  resume(): void;
};

export type Consumers = AsyncDisposable & {
  /** Takes from `queue`, at most `prefetch` at once, over every reconnect and whether or not the queue exists yet. */
  consume(queue: string, prefetch: number, onMessage: (held: Held) => void): Consumer;
  /** Queues that are wanted and not consumed at the moment. */
  waitingFor(): string[];
};

export type ConsumersOptions = { url: string; name: string; heartbeatSeconds: number; log: Log };

const CLOSE_LIMIT_MS = 2_000;

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
      await within(CLOSE_LIMIT_MS, Promise.all(queues.map((queue) => queue.close())));
      await link[Symbol.asyncDispose]();
    },
  };
}
