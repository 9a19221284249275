import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import type { Log } from '@waybell/runtime/log';
import type { Publication } from '../messages.ts';
import { openLink } from './link.ts';

/** The broker has the message, but no queue does: nobody is bound where it was sent. */
export class Unroutable extends Error {
  constructor({ exchange, routingKey }: Publication) {
    super(`no queue is bound to exchange "${exchange}" with key "${routingKey}"`);
    this.name = 'Unroutable';
  }
}

/** No confirm came: the message may or may not be in its queue. Publishing it again can only duplicate it. */
export class Unconfirmed extends Error {
  constructor(why: string) {
    super(`publish not confirmed: ${why}`);
    this.name = 'Unconfirmed';
  }
}

export type Publisher = AsyncDisposable & {
  /** Resolves when a queue has the message. Rejects with `Unroutable` or `Unconfirmed`. */
  publish(publication: Publication): Promise<void>;
  isWritable(): boolean;
  untilWritable(): Promise<void>;
};

export type PublisherOptions = {
  url: string;
  name: string;
  heartbeatSeconds: number;
  confirmTimeoutMs: number;
  /** Messages published and not yet confirmed, at most: a blocked connection would buffer them without bound. */
  unconfirmedLimit: number;
  unconfirmedBytesLimit: number;
  log: Log;
};

export async function openPublisher(options: PublisherOptions): Promise<Publisher> {
  const inFlight = new InFlight(options);
  let channel: ConfirmChannel | undefined;
  let connection: ChannelModel | undefined;
  const link = await openLink({
    ...options,
    name: `${options.name} publish`,
    onOpen: async (opened) => {
      const fresh = await opened.createConfirmChannel();
      fresh.on('error', (error: Error) => options.log.warn({ reason: error.message }, 'broker.channel-failed'));
      fresh.on('return', ({ fields, properties }) => inFlight.returned({ ...fields, messageId: properties.messageId }));
      fresh.on('close', () => {
        channel = undefined;
        inFlight.failAll('the channel closed');
        // The next connection brings a new channel.
        opened.close().catch(() => undefined);
      });
      connection = opened;
      channel = fresh;
    },
    onDown: () => {
      channel = undefined;
      inFlight.failAll('the connection closed');
    },
  });
  const watch = setInterval(() => {
    // While the broker blocks publishers no confirm can come.
    if (link.isBlocked() || !inFlight.isOverdue()) return;
    inFlight.failAll(`none within ${options.confirmTimeoutMs} ms`);
    connection?.close().catch(() => undefined);
  }, OVERDUE_CHECK_MS);

  return {
    async publish(publication) {
      await inFlight.untilRoom();
      if (channel === undefined) throw new Unconfirmed('the broker is away');
      await inFlight.send(channel, publication);
    },
    isWritable: () => channel !== undefined && link.isOpen() && !link.isBlocked(),
    untilWritable: () => link.untilWritable(),
    async [Symbol.asyncDispose]() {
      clearInterval(watch);
      await link[Symbol.asyncDispose]();
    },
  };
}

const OVERDUE_CHECK_MS = 1_000;

type Sent = {
  publication: Publication;
  sentAt: number;
  isReturned: boolean;
  settle(error: Error | undefined): void;
};

type InFlightLimits = Pick<PublisherOptions, 'confirmTimeoutMs' | 'unconfirmedLimit' | 'unconfirmedBytesLimit'>;

/** What was published and not yet confirmed, oldest first. */
class InFlight {
  readonly #limits: InFlightLimits;
  readonly #sent = new Set<Sent>();
  readonly #waitingForRoom: (() => void)[] = [];
  #bytes = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  async untilRoom(): Promise<void> {
    const { unconfirmedLimit, unconfirmedBytesLimit } = this.#limits;
    while (this.#sent.size >= unconfirmedLimit || this.#bytes >= unconfirmedBytesLimit) {
      await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve));
    }
  }

  send(channel: ConfirmChannel, publication: Publication): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent: Sent = {
        publication,
        sentAt: Date.now(),
        isReturned: false,
        settle: (error) => {
          if (!this.#sent.delete(sent)) return;
          this.#bytes -= publication.body.length;
          this.#waitingForRoom.shift()?.();
          if (error !== undefined) reject(error);
          else if (sent.isReturned) reject(new Unroutable(publication));
          else resolve();
        },
      };
      this.#sent.add(sent);
      this.#bytes += publication.body.length;
      const { exchange, routingKey, body } = publication;
      try {
        channel.publish(exchange, routingKey, body, publishOptions(publication), (refusal: unknown) => {
          sent.settle(refusal === null ? undefined : new Unconfirmed('the broker refused it'));
        });
      } catch (error) {
        sent.settle(new Unconfirmed(error instanceof Error ? error.message : 'the channel is closed'));
      }
    });
  }

  /** A return comes before its confirm. Of messages that cannot be told apart, all count as returned. */
  returned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    for (const sent of this.#sent) {
      const { exchange, routingKey, messageId } = sent.publication;
      if (exchange !== message.exchange || routingKey !== message.routingKey || messageId !== message.messageId)
        continue;
      sent.isReturned = true;
    }
  }

  failAll(why: string): void {
    for (const sent of this.#sent) sent.settle(new Unconfirmed(why));
  }

  isOverdue(): boolean {
    const [oldest] = this.#sent;
    return oldest !== undefined && Date.now() - oldest.sentAt > this.#limits.confirmTimeoutMs;
  }
}

function publishOptions({
  messageId,
  type,
  note,
  contentType,
  contentEncoding,
  headers,
}: Publication): Options.Publish {
  return {
    persistent: true,
    mandatory: true,
    ...(messageId !== undefined && { messageId }),
    ...(type !== undefined && { type }),
    ...(note !== undefined && { correlationId: note }),
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    ...(headers !== undefined && { headers }),
  };
}
