import { Queue, Worker } from 'bullmq';
import { serve } from '../../lib/part.ts';
import { findCallbackIn, type BareEvent } from '../find-callback.ts';
import { deliveriesQueueName, eventsQueueName, redisConnection, type DeliveryJob } from './queues.ts';

const ATTEMPTS = { attempts: 4, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true };

/** First hop with BullMQ: finds the subscriber to an event and adds a delivery, to be attempted four times. */
function route(hop: { redisUrl: string; databaseUrl: string; concurrency: number }): void {
  const connection = redisConnection(hop.redisUrl);
  const findCallback = findCallbackIn(hop.databaseUrl);
  const deliveries = new Queue<DeliveryJob>(deliveriesQueueName, { connection });
  const handle = async ({ data: event }: { data: BareEvent }) => {
    const callbackUrl = await findCallback(event);
    if (callbackUrl === undefined) return;
    const body = JSON.stringify({ guid: event.guid, action: event.action, ...event.payload });
    await deliveries.add('delivery', { callbackUrl, body, guid: event.guid }, ATTEMPTS);
  };
  const worker = new Worker<BareEvent>(eventsQueueName, handle, { connection, concurrency: hop.concurrency });
  worker.on('error', () => undefined);
}

serve({ route });
