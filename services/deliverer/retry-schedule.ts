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
 * A delivery sent again by hand starts the schedule again, whatever its attempt's number; a test has one attempt unless `isRetried`.
 */
export function retryDelayMs(schedule: Schedule, delivery: Delivery): number | undefined {
  if (delivery.byHand?.why === 'test' && !delivery.byHand.isRetried) return undefined;
  return schedule[delivery.interface][delivery.attempt - firstAttempt(delivery)];
}
