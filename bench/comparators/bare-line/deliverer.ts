import { connect, type ConsumeMessage } from 'amqplib';
import { serve } from '../../lib/part.ts';
import { httpClient } from '../http-clients.ts';
import { acknowledgeTogether, bareDeliveriesQueue } from './queues.ts';

const SLOTS = 512;

/** Second hop of the bare line: POSTs, and acknowledges what was answered. */
async function deliver({ amqpUrl }: { amqpUrl: string }): Promise<void> {
  const post = httpClient('axios with our adapter');
  const connection = await connect(amqpUrl, { noDelay: true });
  const channel = await connection.createChannel();
  await channel.prefetch(SLOTS);
  const acknowledge = acknowledgeTogether(channel);
  const handle = async ({ content, fields, properties }: ConsumeMessage) => {
    await post(properties.correlationId, { guid: properties.messageId, body: content });
    acknowledge(fields.deliveryTag);
  };
  await channel.consume(bareDeliveriesQueue, (message) => void (message && handle(message)));
}

serve({ deliver });
