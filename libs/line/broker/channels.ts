import type { Channel, ChannelModel } from 'amqplib';

/** With it RabbitMQ answers that a user has no right to something. */
export const ACCESS_REFUSED = 403;

/** A channel of which the operation that fails, and nothing else, says that it did. */
export async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  return channel;
}

/**
 * Resolves when the broker has answered, or the connection has gone meanwhile: of that the library would never tell
 * somebody who waits for an answer to a close. Rejects where it is closed already.
 */
export async function close(open: Channel | ChannelModel): Promise<void> {
  const gone = new Promise<void>((resolve) => open.once('close', () => resolve()));
  await Promise.race([open.close(), gone]);
}

/** Closes the channel first: closing the connection at once would overtake what the channel has still to say. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  // Either may be closed already, by an error.
  await close(channel).catch(() => undefined);
  await close(connection).catch(() => undefined);
}
