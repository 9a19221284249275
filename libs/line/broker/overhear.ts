import type { ServerAddress } from '@waybell/runtime/server-address';
import { closeInOrder, connectOnce, openChannel } from './connect-once.ts';

export type Overheard = { exchange: string; onBody: (body: Buffer) => void };

/** Hears what a fanout exchange is given from now on, by a queue of its own beside those of the services. */
export async function overhear(address: ServerAddress, { exchange, onBody }: Overheard): Promise<AsyncDisposable> {
  const connection = await connectOnce(address);
  const channel = await openChannel(connection);
  const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false });
  await channel.bindQueue(queue, exchange, '');
  await channel.consume(queue, (message) => message !== null && onBody(message.content), { noAck: true });
  return { [Symbol.asyncDispose]: () => closeInOrder(connection, channel) };
}
