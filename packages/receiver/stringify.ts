import { writeExact } from '@waybell/events/exact-json';

/** Deeper than anything but a circle. */
const MAX_DEPTH = 1_000;

/**
 * Writes JSON with every digit as received, which `JSON.stringify` does not do in each runtime: it throws for a `bigint`. Throws
 * a `TypeError` for values that JSON does not have.
 */
export function stringify(value: unknown): string {
  const written = writeExact(value, MAX_DEPTH);
  if (written.kind === 'invalid') throw new TypeError(written.detail);
  return written.text;
}
