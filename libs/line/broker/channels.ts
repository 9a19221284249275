import type { Channel, ChannelModel } from 'amqplib';

/** AMQP reply code: the user lacks a permission. */
export const ACCESS_REFUSED = 403;

/** Opens a channel whose errors reach only the operation that failed. */
export async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  return channel;
}

/**
 * Resolves when the broker has confirmed the close, or when the connection is lost first: amqplib's own `close` would then never
 * settle. Rejects if already closed.
 */
export async function close(open: Channel | ChannelModel): Promise<void> {
  const gone = new Promise<void>((resolve) => open.once('close', () => resolve()));
  await Promise.race([open.close(), gone]);
}

/** Closes the channel first: closing the connection at once would drop frames that the channel has not sent. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  // Either may be closed already, by an error.
  await close(channel).catch(() => undefined);
  await close(connection).catch(() => undefined);
}
