import type { Schedule } from '@waybell/line/line-topology';
import { firstAttempt, type Delivery } from '@waybell/line/delivery';

/**
 * How long after a failed attempt the next one is due; undefined when it was the last.
 *
 * | interface | after attempt | source |
 * |---|---|---|
 * | shipper | 1 … 5: 60 s | shipper-webhooks, Limits: linear, interval 60 seconds, retry count 5 |
 * | carrier | 1: 1 s, 2: 2 s, 3: 4 s | carrier-webhooks, Limits: exponential backoff |
 *
 * One that is sent again by hand begins anew, at whatever number its attempts go on; a test has one attempt, unless it is to be retried.
 */
export function retryDelayMs(schedule: Schedule, delivery: Delivery): number | undefined {
  if (delivery.byHand?.why === 'test' && !delivery.byHand.isRetried) return undefined;
  return schedule[delivery.interface][delivery.attempt - firstAttempt(delivery)];
}
