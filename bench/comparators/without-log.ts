import { connect, type Channel } from 'amqplib';
import { logQueue, outcomesExchange } from '@waybell/line/topology';
import type { Stand } from '../lib/stand.ts';
import type { Contender } from './contender.ts';
import { startServices } from './waybell.ts';

/** Takes records of outcomes, because what no queue takes is refused, and drops them at once. */
const NOWHERE = 'waybell.outcomes.nowhere';

/** The product as if there were no delivery log: records of outcomes go nowhere. */
export const withoutLog: Contender = {
  name: 'without the log',
  async start(stand) {
    const { stack } = stand;
    await stack.service('delivery-log').stop();
    await onChannel(stand, divert);
    const running = await startServices(
      stack,
      stack.services.filter(({ spec }) => spec.name !== 'delivery-log'),
    );
    return {
      ...running,
      async stop() {
        await running.stop();
        await onChannel(stand, restore);
      },
    };
  },
};

async function divert(channel: Channel): Promise<void> {
  await channel.assertQueue(NOWHERE, { arguments: { 'x-max-length': 0 } });
  await channel.bindQueue(NOWHERE, outcomesExchange, '');
  await channel.unbindQueue(logQueue, outcomesExchange, '');
}

async function restore(channel: Channel): Promise<void> {
  await channel.bindQueue(logQueue, outcomesExchange, '');
  await channel.deleteQueue(NOWHERE);
}

/** How many batches of records wait to be written down. */
export async function unwritten(stand: Stand): Promise<number> {
  return onChannel(stand, async (channel) => (await channel.checkQueue(logQueue)).messageCount);
}

async function onChannel<T>({ stack }: Stand, work: (channel: Channel) => Promise<T>): Promise<T> {
  const connection = await connect(stack.servers.url('rabbitmq'));
  try {
    return await work(await connection.createChannel());
  } finally {
    await connection.close();
  }
}
