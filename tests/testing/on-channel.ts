import { connect, type ConfirmChannel } from 'amqplib';

/** For the broker to answer: one that stands still for a while has not gone. */
export const ANSWER_LIMIT_MS = 60_000;

/** Works on a broker as an operator might, past the line. */
export async function onChannel<T>(brokerUrl: string, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  const connection = await connect(brokerUrl, { timeout: ANSWER_LIMIT_MS });
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
