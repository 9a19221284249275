import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib';
import type { PublishedEvent } from './event.ts';

/** An upstream system: publishes to `waybell.events` and knows nothing else of the line. */
export class Upstream implements AsyncDisposable {
  readonly #connection: ChannelModel;
  readonly #channel: ConfirmChannel;

  constructor(connection: ChannelModel, channel: ConfirmChannel) {
    this.#connection = connection;
    this.#channel = channel;
  }

  static async connect(url: string): Promise<Upstream> {
    const connection = await connect(url);
    connection.on('error', () => undefined);
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return new Upstream(connection, channel);
  }

  /** Resolves when the broker has confirmed it. */
  async publish(event: PublishedEvent): Promise<void> {
    await this.publishRaw(`${event.interface}.${event.action}`, Buffer.from(JSON.stringify(event)), event.guid);
  }

  async publishRaw(routingKey: string, body: Buffer, messageId?: string, extra: object = {}): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const options = { persistent: true, contentType: 'application/json', ...(messageId && { messageId }), ...extra };
      this.#channel.publish('waybell.events', routingKey, body, options, (error: unknown) => {
        if (error === null) resolve();
        else reject(error instanceof Error ? error : new Error('the broker refused the event'));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close().catch(() => undefined);
  }
}
