import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const HOUR_MS = 3_600_000;

const CLOCK_FILE = join(tmpdir(), `waybell-clock-${process.pid}`);

/** For NODE_OPTIONS, with CLOCK_FILE. */
export const shiftedClock = `--import=${new URL('shifted-clock.ts', import.meta.url).href}`;
/** Services whose clocks `setClocks` can set, and which find out that they are wrong. */
export const wrongClocks = { CLOCK_FILE, NODE_OPTIONS: shiftedClock };
/** The same, where time is to pass: services that go by the clock that they are given. */
export const clockSettings = { ...wrongClocks, CLOCK_LIMIT: '0s' };

/** Sets the clocks of all services ahead, or behind (below 0). */
export function setClocks(offsetMs: number): void {
  writeFileSync(`${CLOCK_FILE}-next`, String(offsetMs));
  renameSync(`${CLOCK_FILE}-next`, CLOCK_FILE);
}

/** All clocks are right again. */
export function rightClocks(): void {
  rmSync(CLOCK_FILE, { force: true });
}
