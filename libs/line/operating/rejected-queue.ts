/**
 * The rejected queue as operators read it, and how its messages are read back into their original form. `libs/rejected` lists, retries
 * and removes them.
 */
import { createHash } from 'node:crypto';
import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { structuredContent } from '../broker/amqp-message.ts';
import { closeInOrder, openChannel } from '../broker/broker-connection.ts';
import { isDeliveryBatch, readMembers } from '../delivery-batch.ts';
import { waybellHeaders, type Destination, type Message } from '../messages.ts';
import { rejectedQueue, rejectedReader } from '../topology.ts';
import { connectOnce, withoutRight } from './connect-once.ts';

const RESOURCE_LOCKED = 405;

/** Another command or API request holds the rejected queue. */
export class RejectedQueueTaken extends Error {
  constructor() {
    super(`another command reads ${rejectedQueue}: try again when it has ended`);
    this.name = 'RejectedQueueTaken';
  }
}

/** The rejected queue, held exclusively by one command. Messages that were read and not removed are requeued on disposal. */
export class RejectedQueue implements AsyncDisposable {
  readonly #connection: ChannelModel;
  readonly #channel: Channel;
  readonly #count: number;
  readonly #taken = new Map<RejectedMessage, GetMessage>();

  constructor(connection: ChannelModel, channel: Channel, count: number) {
    this.#connection = connection;
    this.#channel = channel;
    this.#count = count;
  }

  /** Throws `RejectedQueueTaken` if another command holds it: that one's unacknowledged messages would be invisible here. */
  static async open(address: ServerAddress): Promise<RejectedQueue> {
    const connection = await connectOnce(address);
    const channel = await openChannel(connection);
    try {
      await channel.assertQueue(rejectedReader, { exclusive: true, durable: false });
      const { messageCount } = await channel.checkQueue(rejectedQueue);
      return new RejectedQueue(connection, channel, messageCount);
    } catch (error) {
      await closeInOrder(connection, channel);
      throw withoutRight(address, error) ?? explained(error);
    }
  }

  /**
   * Yields every message that was there when it was opened, and none that came later, such as a retried one that failed again. In no
   * order: the broker requeues messages anywhere.
   */
  async *messages(): AsyncGenerator<RejectedMessage> {
    for (let read = 0; read < this.#count; read += 1) {
      const message = await this.#channel.get(rejectedQueue);
      if (message === false) return;
      const rejected = readRejected(message);
      // Keeps only what an acknowledgement needs, not the body.
      this.#taken.set(rejected, { ...message, content: Buffer.alloc(0) });
      yield rejected;
    }
  }

  /** Removes a message from the queue. */
  remove(rejected: RejectedMessage): void {
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
  if (code === RESOURCE_LOCKED) return new RejectedQueueTaken();
  if (code === 404) return new Error(`there is no queue ${rejectedQueue}: create the line with "./waybell declare"`);
  return error;
}

/** A message of the rejected queue: its original form, and why it was rejected. */
export type RejectedMessage = Omit<
  Message,
  'deliveryCount' | 'crashes' | 'isSuspect' | 'failures' | 'death' | 'waited' | 'isTraced' | 'isSealed' | 'traceparents'
> & {
  /** Ten hex digits of a hash of the message. */
  id: string;
  reason: string;
  /** Details of the reason; may be empty. */
  detail: string;
  /** ISO 8601; empty if unknown. */
  rejectedAt: string;
};

/**
 * Reads a message that the hand-over put there, or that the broker dead-lettered with a reason of its own. A batch of one delivery
 * is read as that delivery, whose facts are its note.
 */
export function readRejected({ content, fields, properties }: WithRoute): RejectedMessage {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const said = (name: string) => textOf(headers[name]);
  const death = firstDeath(headers['x-death']);
  const origin = {
    reason: said(waybellHeaders.reason) ?? death?.reason ?? 'unknown',
    detail: said(waybellHeaders.detail) ?? '',
    rejectedAt: said(waybellHeaders.at) ?? '',
    queue: said(waybellHeaders.queue) ?? death?.queue ?? '',
    exchange: said(waybellHeaders.exchange) ?? death?.exchange ?? fields.exchange,
    routingKey: said(waybellHeaders.routingKey) ?? death?.routingKey ?? fields.routingKey,
    messageId: textOf(properties.messageId),
  };
  const identity = createHash('sha256').update(JSON.stringify(origin)).update(content).digest('hex');
  const { messageId, ...others } = origin;
  return opened({
    id: identity.slice(0, 10),
    ...others,
    ...given('messageId', messageId),
    ...given('userId', said(waybellHeaders.user)),
    ...given('type', textOf(properties.type)),
    ...given('note', textOf(properties.correlationId)),
    ...given('contentType', textOf(properties.contentType)),
    ...given('contentEncoding', textOf(properties.contentEncoding)),
    ...given('traceparent', said('traceparent')),
    body: content,
    // A message that the broker dead-lettered may still be in binary mode.
    ...structuredContent({ content, properties }),
  });
}

function opened(rejected: RejectedMessage): RejectedMessage {
  if (!isDeliveryBatch(rejected)) return rejected;
  const [only, ...others] = readMembers({ ...rejected, deliveryCount: 0, failures: 0 }) ?? [];
  if (only === undefined || others.length > 0) return rejected;
  const { deliveryCount: _, failures: __, ...member } = only;
  const note = JSON.stringify({ ...only.delivery, body: undefined });
  return { ...rejected, ...member, ...(only.delivery && { note }) };
}

type WithRoute = Pick<GetMessage, 'content' | 'properties'> & { fields: Pick<GetMessage['fields'], keyof Destination> };
type FirstDeath = { reason?: string; queue?: string; exchange?: string; routingKey?: string };

function firstDeath(deaths: unknown): FirstDeath | undefined {
  const [death]: unknown[] = Array.isArray(deaths) ? deaths : [];
  if (typeof death !== 'object' || death === null) return undefined;
  const members: Record<string, unknown> = { ...death };
  const [routingKey]: unknown[] = Array.isArray(members['routing-keys']) ? members['routing-keys'] : [];
  return {
    ...given('reason', textOf(members['reason'])),
    ...given('queue', textOf(members['queue'])),
    ...given('exchange', textOf(members['exchange'])),
    ...given('routingKey', textOf(routingKey)),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function given<K extends string>(name: K, value: string | undefined): Partial<Record<K, string>> {
  // The key is K by construction; TypeScript widens computed keys to string.
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<K, string>>);
}
