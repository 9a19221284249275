/** To give back what has not ended, and to close what was opened, with servers that do not answer. */
const CLOSING_MS = 10_000;

/** How long what is in hand may take to end, of a grace time of so much: the rest is for closing. */
export function endingMs(graceMs: number): number {
  return graceMs - Math.min(CLOSING_MS, graceMs / 2);
}

/** The grace time of which so much is left for what is in hand. */
export function graceFor(leftMs: number): number {
  return leftMs + Math.min(CLOSING_MS, leftMs);
}
