import { connect, type Channel, type ChannelModel, type ConfirmChannel } from 'amqplib';
import { publishOptions } from '@waybell/line/broker/amqp-message';
import type { Publication } from '@waybell/line/messages';
import { readEnvironment } from '@waybell/runtime/environment';
import { placeOf, type ServerAddress } from '@waybell/runtime/server-address';
import { brokerSettings } from '@waybell/runtime/settings';
import { brokerOf } from '@waybell/stack/address-of';

const CONNECT_LIMIT_MS = 10_000;

/** A command's way onto the line. Unlike a service's it does not come back: who asked is told what failed. */
export type Line = AsyncDisposable & {
  /** Resolves when the broker has it: in a queue, or nowhere. Rejects where it does not say so; then it may have it. */
  publish(publication: Publication): Promise<'confirmed' | 'unroutable'>;
};

/** Connects to RabbitMQ once. Throws, saying what to look at, where that fails. */
export async function connectOnce({ url, tls }: ServerAddress): Promise<ChannelModel> {
  try {
    const connection = await connect(url, {
      ...tls,
      timeout: CONNECT_LIMIT_MS,
      // Else each get after an acknowledgement waits 40 ms for the broker's packet.
      noDelay: true,
      clientProperties: { connection_name: 'waybell command' },
    });
    // The operation that fails reports it; without a listener it would end the process as well.
    connection.on('error', () => undefined);
    return connection;
  } catch (error) {
    const place = placeOf(url) ?? 'AMQP_URL';
    const why = error instanceof Error ? error.message || ('code' in error ? String(error.code) : '') : String(error);
    throw new Error(`RabbitMQ at ${place} cannot be reached (${why}): check AMQP_URL, or see "./waybell status"`, {
      cause: error,
    });
  }
}

/**
 * Closes the channel first: closing the connection at once would overtake what the channel has still to say. A broker
 * that is gone does not answer, and is not waited for.
 */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    connection.once('close', () => resolve());
  });
  const close = async () => {
    // It may be closed already, by an error.
    await channel.close().catch(() => undefined);
    await connection.close();
  };
  await Promise.race([gone, close().catch(() => undefined)]);
}

/** A publisher on AMQP_URL or the running stack's broker. Throws where the exchange is not there. */
export async function openLine(exchange: string, env: NodeJS.ProcessEnv): Promise<Line> {
  const { CONFIRM_TIMEOUT } = readEnvironment({ CONFIRM_TIMEOUT: brokerSettings.CONFIRM_TIMEOUT }, env);
  const connection = await connectOnce(brokerOf(env));
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => undefined);
  try {
    await channel.checkExchange(exchange);
  } catch (error) {
    await closeInOrder(connection, channel);
    throw new Error(`exchange ${exchange} cannot be used: create the line with "./waybell declare"`, { cause: error });
  }
  return new OpenLine(connection, channel, CONFIRM_TIMEOUT);
}

type Unconfirmed = { publication: Publication; isReturned: boolean; fail: (why: string) => void };

class OpenLine implements Line {
  readonly #connection: ChannelModel;
  readonly #channel: ConfirmChannel;
  readonly #confirmTimeoutMs: number;
  readonly #unconfirmed = new Set<Unconfirmed>();
  #isBlocked = false;
  #isClosed = false;

  constructor(connection: ChannelModel, channel: ConfirmChannel, confirmTimeoutMs: number) {
    this.#connection = connection;
    this.#channel = channel;
    this.#confirmTimeoutMs = confirmTimeoutMs;
    connection.on('blocked', () => (this.#isBlocked = true));
    connection.on('unblocked', () => (this.#isBlocked = false));
    channel.on('return', ({ fields, properties }) => this.#returned(fields.routingKey, properties.messageId));
    channel.on('close', () => {
      this.#isClosed = true;
      for (const each of this.#unconfirmed) each.fail('the connection to the broker is gone');
    });
  }

  publish(publication: Publication): Promise<'confirmed' | 'unroutable'> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(timer);
        if (this.#unconfirmed.delete(sent)) how();
      };
      const sent: Unconfirmed = {
        publication,
        isReturned: false,
        fail: (why) => settle(() => reject(new Error(why))),
      };
      this.#unconfirmed.add(sent);
      const timer = setTimeout(() => sent.fail(this.#whyLate()), this.#confirmTimeoutMs);
      if (this.#isClosed) return sent.fail('the connection to the broker is gone');
      const { exchange, routingKey, body } = publication;
      this.#channel.publish(exchange, routingKey, body, publishOptions(publication), (refusal: unknown) => {
        // Upstream's queue refuses rather than fill the broker up.
        if (refusal !== null) sent.fail('the broker refused it: a full queue?');
        else settle(() => resolve(sent.isReturned ? 'unroutable' : 'confirmed'));
      });
    });
  }

  /** The return comes before the confirm, which says nothing of it. */
  #returned(routingKey: string, messageId: unknown): void {
    for (const sent of this.#unconfirmed) {
      const { publication } = sent;
      if (publication.routingKey === routingKey && publication.messageId === messageId) sent.isReturned = true;
    }
  }

  #whyLate(): string {
    if (this.#isBlocked) return 'the broker takes nothing: it is short of memory or disk';
    return `the broker did not confirm within ${this.#confirmTimeoutMs} ms`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeInOrder(this.#connection, this.#channel);
  }
}
