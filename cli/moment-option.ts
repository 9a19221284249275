import { InvalidArgumentError } from 'commander';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import { parseDurationMs } from '@waybell/runtime/duration';

const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * For an option that is a time, in milliseconds since the epoch: a day (its beginning, UTC), an RFC 3339 timestamp, or an age.
 */
export function momentMs(text: string): number {
  const timestamp = DAY.test(text) ? `${text}T00:00:00Z` : text;
  if (readTimestamp(timestamp) !== null) return momentOf(timestamp);
  try {
    return Date.now() - parseDurationMs(text);
  } catch {
    throw new InvalidArgumentError(
      'It is a day such as 2026-11-24, a time such as 2026-11-24T09:30:00Z, or how long ago, such as 24h.',
    );
  }
}
