/** Time to give back unfinished messages and to close everything, with servers that do not answer. */
const CLOSING_MS = 10_000;

/** Returns the part of a grace time for work in hand: the rest is for closing. */
export function endingMs(graceMs: number): number {
  return graceMs - Math.min(CLOSING_MS, graceMs / 2);
}

/** Returns the grace time that leaves this much for work in hand. */
export function graceFor(leftMs: number): number {
  return leftMs + Math.min(CLOSING_MS, leftMs);
}
