/**
 * Most deliveries succeed at their first attempt: then the attempt lies in the row of its delivery. For that the router's
 * record stays in hand for a while.
 */
import { isAttempted, type Delivered, type Outcome } from '@waybell/line/outcomes';
import type { DeliveryRecord } from '../tables.ts';
import type { QueuedItem } from './in-lots.ts';

/** `isRepeat`: it may be written already. */
export type LogRecord = { outcome: Outcome; isRepeat: boolean };

/** A row of a delivery that is to be written. `isRepeat`: it may be there already. */
export type DeliveryInHand = DeliveryRecord & { isRepeat: boolean };

/** Readers look for the attempts of a stretch of time in the deliveries from so long before it until so long after it. */
const FURTHEST_APART_MS = 60_000;

/** The attempt, where the row of its delivery can tell of it. */
export function firstOf(row: DeliveryInHand, { outcome, isRepeat }: LogRecord): Delivered | undefined {
  if (outcome.kind !== 'delivered' || isRepeat || row.isRepeat || row.first !== undefined) return undefined;
  const { attempt, byHand, parked, subscription, at } = outcome;
  const isPlain = attempt === 1 && byHand === undefined && parked === undefined;
  const isNear = subscription === row.subscription && Math.abs(at - row.at) < FURTHEST_APART_MS;
  return isPlain && isNear ? outcome : undefined;
}

/** Finds in what waits to be written verdicts whose deliveries are not all attempted yet, and the attempts at the others. */
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
