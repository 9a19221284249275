import { connect } from 'amqplib';
import { hostAndPort, reaches } from './reaches.ts';

export type QueueDepth = { name: string; messages: number; consumers: number };

/** How many messages wait, ready to be taken, in each of these queues. A queue that is missing is left out. */
export async function queueDepths(url: string, names: string[]): Promise<QueueDepth[]> {
  // Without a broker there is nothing to say; a half-open one must not hold up the answer.
  if (!(await reaches(hostAndPort(url)))) return [];
  const connection = await connect(url, { timeout: 5_000 });
  connection.on('error', () => undefined);
  const depths: QueueDepth[] = [];
  try {
    let channel = await connection.createChannel();
    for (const name of names) {
      channel.removeAllListeners('error').on('error', () => undefined);
      try {
        const { messageCount, consumerCount } = await channel.checkQueue(name);
        depths.push({ name, messages: messageCount, consumers: consumerCount });
      } catch {
        // The broker closes the channel that asks for a queue that is not there.
        channel = await connection.createChannel();
      }
    }
    return depths;
  } finally {
    await connection.close().catch(() => undefined);
  }
}
