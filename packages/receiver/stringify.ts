import { writeExact } from '@waybell/events/write-exact';

/** Deeper than anything but a circle. */
const MAX_DEPTH = 1_000;

/**
 * JSON with every digit of what was received, which `JSON.stringify` does not write everywhere: a `bigint` has it throw. Throws a
 * `TypeError` for what JSON has no word for.
 */
export function stringify(value: unknown): string {
  const written = writeExact(value, MAX_DEPTH);
  if (written.kind === 'invalid') throw new TypeError(written.detail);
  return written.text;
}
