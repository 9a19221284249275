import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { rejectedQueue, rejectedReader } from '../topology.ts';
import { closeInOrder, connectOnce, openChannel } from './connect-once.ts';
import { readRejected, type Rejected } from './read-rejected.ts';

const RESOURCE_LOCKED = 405;

/** The rejected queue in the hands of one command. Whatever was taken and not removed goes back, at the latest with the connection. */
export class RejectedQueue implements AsyncDisposable {
  readonly #connection: ChannelModel;
  readonly #channel: Channel;
  readonly #count: number;
  readonly #taken = new Map<Rejected, GetMessage>();

  constructor(connection: ChannelModel, channel: Channel, count: number) {
    this.#connection = connection;
    this.#channel = channel;
    this.#count = count;
  }

  /** Throws where another command has it: messages in its hands cannot be seen, and the queue would look empty. */
  static async open(address: ServerAddress): Promise<RejectedQueue> {
    const connection = await connectOnce(address);
    const channel = await openChannel(connection);
    try {
      await channel.assertQueue(rejectedReader, { exclusive: true, durable: false });
      const { messageCount } = await channel.checkQueue(rejectedQueue);
      return new RejectedQueue(connection, channel, messageCount);
    } catch (error) {
      await closeInOrder(connection, channel);
      throw explained(error);
    }
  }

  /**
   * Every message that was there at the beginning, and none that came since, such as one retried in vain. In no order: the
   * broker gives back what was looked at wherever it likes.
   */
  async *messages(): AsyncGenerator<Rejected> {
    for (let read = 0; read < this.#count; read += 1) {
      const message = await this.#channel.get(rejectedQueue);
      if (message === false) return;
      const rejected = readRejected(message);
      // The bytes are not kept: only what it takes to give it back or remove it.
      this.#taken.set(rejected, { ...message, content: Buffer.alloc(0) });
      yield rejected;
    }
  }

  /** Takes a message from the queue for good. */
  remove(rejected: Rejected): void {
    const message = this.#taken.get(rejected);
    if (message === undefined || !this.#taken.delete(rejected)) throw new Error(`${rejected.id} is not in hand`);
    this.#channel.ack(message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeInOrder(this.#connection, this.#channel);
  }
}

function explained(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === RESOURCE_LOCKED) return new Error(`another command reads ${rejectedQueue}: try again when it has ended`);
  if (code === 404) return new Error(`there is no queue ${rejectedQueue}: create the line with "./waybell declare"`);
  return error;
}
