/**
 * Most deliveries succeed at their first attempt, which is then stored in the row of the delivery. For that, the router's record
 * is held back for a while.
 */
import { isAttempted, type Delivered, type Outcome } from '@waybell/line/outcomes';
import type { DeliveryRecord } from '../tables.ts';
import type { QueuedItem } from './in-lots.ts';

/** `isRepeat`: the record may be written already. */
export type LogRecord = { outcome: Outcome; isRepeat: boolean };

/** A row of a delivery to be written. `isRepeat`: it may be written already. */
export type DeliveryInHand = DeliveryRecord & { isRepeat: boolean };

/** Readers look for the attempts of a time range in deliveries from this long before it until this long after it. */
const FURTHEST_APART_MS = 60_000;

/** Returns the attempt if the row of its delivery can hold it. */
export function firstOf(row: DeliveryInHand, { outcome, isRepeat }: LogRecord): Delivered | undefined {
  if (outcome.kind !== 'delivered' || isRepeat || row.isRepeat || row.first !== undefined) return undefined;
  const { attempt, byHand, parked, subscription, at } = outcome;
  const isPlain = attempt === 1 && byHand === undefined && parked === undefined;
  const isNear = subscription === row.subscription && Math.abs(at - row.at) < FURTHEST_APART_MS;
  return isPlain && isNear ? outcome : undefined;
}

/** Finds waiting records of routed events whose deliveries are not all attempted yet, and the attempts at the others. */
export function incomplete(waiting: readonly QueuedItem<LogRecord>[]): Set<LogRecord> {
  const attempts = new Map<string, LogRecord>();
  for (const { item } of waiting) if (isAttempted(item.outcome)) attempts.set(item.outcome.delivery, item);
  const staying = new Set<LogRecord>();
  for (const { item, hasStayed } of waiting) {
    if (item.outcome.kind !== 'routed' || item.isRepeat || hasStayed) continue;
    const made = item.outcome.deliveries.map(({ delivery }) => attempts.get(delivery));
    if (made.every((attempt) => attempt !== undefined)) continue;
    staying.add(item);
    for (const attempt of made) if (attempt !== undefined) staying.add(attempt);
  }
  return staying;
}
