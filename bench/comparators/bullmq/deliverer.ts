import { Worker } from 'bullmq';
import { serve } from '../../lib/part.ts';
import { httpClient, type HttpClientName } from '../http-clients.ts';
import { deliveriesQueueName, redisConnection, type DeliveryJob } from './queues.ts';

/** Second hop with BullMQ: POSTs; what is not a success throws, and BullMQ tries again. */
function deliver(hop: { redisUrl: string; client: HttpClientName; concurrency: number }): void {
  const connection = redisConnection(hop.redisUrl);
  const post = httpClient(hop.client);
  const handle = async ({ data }: { data: DeliveryJob }) => {
    const status = await post(data.callbackUrl, { guid: data.guid, body: Buffer.from(data.body) });
    if (status >= 300) throw new Error(`answered ${status}`);
  };
  const worker = new Worker<DeliveryJob>(deliveriesQueueName, handle, { connection, concurrency: hop.concurrency });
  worker.on('error', () => undefined);
}

serve({ deliver });
