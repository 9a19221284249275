import { connect, type ConfirmChannel } from 'amqplib';
import type { Stage } from './stage.ts';

/** Works on the broker as an operator might, past the line. */
export async function onChannel<T>({ stack }: Stage, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  const connection = await connect(stack.brokerUrl);
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const result = await work(channel);
    await channel.close();
    return result;
  } finally {
    await connection.close().catch(() => undefined);
  }
}
