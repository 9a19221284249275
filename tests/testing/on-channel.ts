import type { ConfirmChannel } from 'amqplib';
import { close } from '@waybell/line/broker/broker-connection';
import { onConnection } from '@waybell/line/operating/connect-once';

/** For the broker to answer: one that stands still for a while has not gone. */
export const ANSWER_LIMIT_MS = 60_000;

/** Works on a broker as an operator might, past the line. */
export async function onChannel<T>(brokerUrl: string, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  return onConnection(
    { url: brokerUrl },
    async (connection) => {
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      const result = await work(channel);
      await close(channel);
      return result;
    },
    ANSWER_LIMIT_MS,
  );
}
