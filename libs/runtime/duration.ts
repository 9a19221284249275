const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `250ms`, `4s`, `1m`, `24h` or `90d` as milliseconds. Throws on anything else, a missing unit included. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new Error(`"${text}" is not a duration: write a number and a unit, such as 250ms, 4s, 1m, 24h or 90d`);
  }
  return Math.round(Number(amount) * (UNITS_MS[unit] ?? Number.NaN));
}

/** Writes milliseconds in the largest unit that divides them: 60000 is `1m`. */
export function formatDuration(durationMs: number): string {
  const units = Object.entries(UNITS_MS).toReversed();
  const [unit, unitMs] = units.find(([, ms]) => durationMs > 0 && durationMs % ms === 0) ?? ['ms', 1];
  return `${durationMs / unitMs}${unit}`;
}
