import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import { close } from '@waybell/line/broker/broker-connection';
import { connectOnce } from '@waybell/line/operating/connect-once';
import type { PublishedEvent } from './event.ts';

type Link = { connection: ChannelModel; channel: ConfirmChannel };

const RECONNECT_PAUSE_MS = 100;
// A broker that stands still for a while has not gone.
const CONNECT_LIMIT_MS = 60_000;

/** An upstream system: publishes to `waybell.events` and knows nothing else of the line. */
export class Upstream implements AsyncDisposable {
  readonly #url: string;
  #link: Promise<Link> | undefined;
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  static async connect(url: string): Promise<Upstream> {
    const upstream = new Upstream(url);
    await upstream.#open();
    return upstream;
  }

  /** Resolves when the broker has confirmed it. Rejects when it refuses, or goes away before it has. */
  async publish(event: PublishedEvent, extra: Options.Publish = {}): Promise<void> {
    await this.publishRaw(`${event.interface}.${event.action}`, Buffer.from(JSON.stringify(event)), event.guid, extra);
  }

  /** Publishes the same event again until the broker has confirmed it, as an upstream with an outbox does. */
  async publishUntilConfirmed(event: PublishedEvent, extra?: Options.Publish): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.publish(event, extra);
      } catch {
        await sleep(RECONNECT_PAUSE_MS);
      }
    }
    throw new Error(`event ${event.guid} was never confirmed`);
  }

  async publishRaw(routingKey: string, body: Buffer, messageId?: string, extra: Options.Publish = {}): Promise<void> {
    const { channel } = await this.#open();
    await new Promise<void>((resolve, reject) => {
      const options = {
        persistent: true,
        contentType: 'application/json',
        ...(messageId !== undefined && { messageId }),
        ...extra,
      };
      channel.publish('waybell.events', routingKey, body, options, (error: unknown) => {
        if (error === null) resolve();
        else reject(error instanceof Error ? error : new Error('the broker refused the event'));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const link = await this.#link?.catch(() => undefined);
    if (link !== undefined) await close(link.connection).catch(() => undefined);
  }

  /** The connection that is open, or a new one where there is none. */
  #open(): Promise<Link> {
    this.#link ??= this.#connect().catch((error: unknown) => {
      this.#link = undefined;
      throw error;
    });
    return this.#link;
  }

  async #connect(): Promise<Link> {
    const connection = await connectOnce({ url: this.#url }, CONNECT_LIMIT_MS);
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    channel.on('close', () => {
      this.#link = undefined;
    });
    return { connection, channel };
  }
}
