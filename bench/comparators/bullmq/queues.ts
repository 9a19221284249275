import type { ConnectionOptions } from 'bullmq';

export const eventsQueueName = 'events';
export const deliveriesQueueName = 'deliveries';

/** A delivery, as its job's data. */
export type DeliveryJob = { callbackUrl: string; body: string; guid: string };

/** The connection that BullMQ asks for: workers must not give up on a blocking command. */
export function redisConnection(url: string): ConnectionOptions {
  const { hostname, port, password } = new URL(url);
  return { host: hostname, port: Number(port), password, maxRetriesPerRequest: null };
}
