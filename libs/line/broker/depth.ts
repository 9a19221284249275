import type { ChannelModel } from 'amqplib';

/** How many messages wait in these queues together, ready to be taken. Rejects where one of them cannot be asked. */
export async function depthOf(connection: ChannelModel, queues: readonly string[]): Promise<number> {
  const channel = await connection.createChannel();
  // The question that fails reports it, and has closed the channel.
  channel.on('error', () => undefined);
  let depth = 0;
  for (const queue of queues) depth += (await channel.checkQueue(queue)).messageCount;
  await channel.close();
  return depth;
}
