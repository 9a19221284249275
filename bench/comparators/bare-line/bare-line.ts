import { connect } from 'amqplib';
import { startPart } from '../../lib/part.ts';
import type { Contender } from '../contender.ts';
import { bareDeliveriesQueue, bareEventsExchange, bareEventsQueue } from './queues.ts';

type Hop = { amqpUrl: string; databaseUrl: string };
type BareRouterCommands = { route(hop: Hop): Promise<void> };
type BareDelivererCommands = { deliver(hop: Hop): Promise<void> };

/**
 * The limit: the same two hops over the same broker, as durable (quorum queues, persistent, confirmed, acknowledged
 * after the confirm), one subscription lookup, the same HTTP adapter, and nothing else: no check of the event, no
 * retries, no outcomes, no recognition of duplicates, no fairness.
 */
export const bareLine: Contender = {
  name: 'bare line',
  async start({ stack: { servers } }) {
    const hop = { amqpUrl: servers.url('rabbitmq'), databaseUrl: servers.url('postgres') };
    await declare(hop.amqpUrl);
    const router = startPart<BareRouterCommands>('comparators/bare-line/router.ts');
    const deliverer = startPart<BareDelivererCommands>('comparators/bare-line/deliverer.ts');
    await Promise.all([router.call('route', hop), deliverer.call('deliver', hop)]);
    return {
      target: { url: hop.amqpUrl, exchange: bareEventsExchange },
      parts: { 'event-router': [router.pid], deliverer: [deliverer.pid] },
      stop: async () => {
        await Promise.all([router.stop(), deliverer.stop()]);
      },
    };
  },
};

async function declare(amqpUrl: string): Promise<void> {
  const connection = await connect(amqpUrl);
  const channel = await connection.createChannel();
  const quorum = { durable: true, arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000 } };
  await channel.assertExchange(bareEventsExchange, 'topic', { durable: true });
  for (const queue of [bareEventsQueue, bareDeliveriesQueue]) await channel.assertQueue(queue, quorum);
  await channel.bindQueue(bareEventsQueue, bareEventsExchange, '#');
  await connection.close();
}
