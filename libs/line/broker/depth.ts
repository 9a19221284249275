import type { ChannelModel } from 'amqplib';

/** Messages that wait in queues together, ready to be taken: there may be more where it is not exact. */
export type Depth = { messages: number; isExact: boolean };

/** Of a quorum queue whose leader has not told it by then, RabbitMQ says that it has no messages and no consumers. */
const GUESSED_AFTER_MS = 250;

/** Asks for each of these queues. Rejects where one of them cannot be asked. */
export async function depthOf(connection: ChannelModel, queues: readonly string[]): Promise<Depth> {
  const channel = await connection.createChannel();
  // The question that fails reports it, and has closed the channel.
  channel.on('error', () => undefined);
  const depth = { messages: 0, isExact: true };
  for (const queue of queues) {
    const askedAt = performance.now();
    const { messageCount, consumerCount } = await channel.checkQueue(queue);
    depth.messages += messageCount;
    const isNothing = messageCount === 0 && consumerCount === 0;
    if (isNothing && performance.now() - askedAt >= GUESSED_AFTER_MS) depth.isExact = false;
  }
  await channel.close();
  return depth;
}
