import { type ChannelModel, connect } from 'amqplib';
import { placeOf } from '@waybell/runtime/addresses';
import { asItIsNow } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { messageOf, troubleWith } from '@waybell/runtime/server-trouble';
import { ACCESS_REFUSED, close, closeInOrder, nodesOf, openChannel } from '../broker/broker-connection.ts';

const CONNECT_LIMIT_MS = 10_000;

/**
 * Connects to RabbitMQ for one command, trying one node after the other; each has its share of the limit. Reads the address again, and does not reconnect.
 * Throws an error with the remedy if no node can be reached or the user is refused.
 */
export async function connectOnce(given: ServerAddress, limitMs: number = CONNECT_LIMIT_MS): Promise<ChannelModel> {
  const address = asItIsNow(given);
  const nodes = nodesOf(address.url);
  const failures: unknown[] = [];
  for (const url of nodes) {
    try {
      return await connectTo({ ...address, url }, limitMs / nodes.length);
    } catch (error) {
      failures.push(nodes.length === 1 ? error : `${placeOf(url)}: ${messageOf(error)}`);
    }
  }
  const cause = nodes.length === 1 ? failures[0] : failures.join('; ');
  throw new Error(troubleWith({ server: 'RabbitMQ', ...address }, cause), { cause });
}

async function connectTo({ url, tls }: ServerAddress, limitMs: number): Promise<ChannelModel> {
  const connection = await connect(url, {
    ...tls,
    timeout: limitMs,
    // Otherwise Nagle's algorithm delays each `get` after an acknowledgement by 40 ms.
    noDelay: true,
    clientProperties: { connection_name: 'waybell command' },
  });
  // The failed operation rejects too; without a listener the error would end the process.
  connection.on('error', () => undefined);
  return connection;
}

/** Runs the work on a connection of its own and closes it. Rejects like `connectOnce` or the work; explains a missing permission. */
export async function onConnection<T>(
  address: ServerAddress,
  work: (connection: ChannelModel) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  const connection = await connectOnce(address, limitMs);
  try {
    return await work(connection);
  } catch (error) {
    throw withoutRight(address, error) ?? error;
  } finally {
    await close(connection).catch(() => undefined);
  }
}

/** Explains an error caused by a missing permission; undefined for any other error. */
export function withoutRight(address: ServerAddress, error: unknown): Error | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === ACCESS_REFUSED)) return undefined;
  return new Error(troubleWith({ server: 'RabbitMQ', ...address }, error), { cause: error });
}

export type Overheard = { exchange: string; onBody: (body: Buffer) => void };

/** Receives copies of messages published to a fanout exchange from now on, through a temporary queue. */
export async function overhear(address: ServerAddress, { exchange, onBody }: Overheard): Promise<AsyncDisposable> {
  const connection = await connectOnce(address);
  const channel = await openChannel(connection);
  const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false });
  await channel.bindQueue(queue, exchange, '');
  await channel.consume(queue, (message) => message !== null && onBody(message.content), { noAck: true });
  return { [Symbol.asyncDispose]: () => closeInOrder(connection, channel) };
}
