/** Limit of Node's timers: beyond it they fire at once. */
const MOST_TIMER_MS = 2 ** 31 - 1;

/** Throws for a number that is not above zero and finite. */
export function requireNumbers(numbers: Record<string, number>, most: number = Number.MAX_VALUE): void {
  for (const [name, value] of Object.entries(numbers))
    if (typeof value !== 'number' || !(value > 0 && value <= most))
      throw new TypeError(
        `"${name}" must be a number above 0${most < Number.MAX_VALUE ? `, at most ${most}` : ''}, not ${String(value)}`,
      );
}

/** The same of milliseconds that a timer waits. */
export function requireTimers(timesMs: Record<string, number>): void {
  requireNumbers(timesMs, MOST_TIMER_MS);
}

/** Throws for options that are given and are no function. */
export function requireFunctions(functions: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(functions))
    if (value !== undefined && typeof value !== 'function') throw new TypeError(`"${name}" must be a function`);
}
