import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const HOUR_MS = 3_600_000;

const CLOCK_FILE = join(tmpdir(), `waybell-clock-${process.pid}`);

/** For NODE_OPTIONS, with CLOCK_FILE: services whose clocks `setClocks` can set. */
export const shiftedClock = `--import=${new URL('shifted-clock.ts', import.meta.url).href}`;
export const clockSettings = { CLOCK_FILE, NODE_OPTIONS: shiftedClock };

/** Sets the clocks of all services ahead, or behind (below 0). */
export function setClocks(offsetMs: number): void {
  writeFileSync(`${CLOCK_FILE}-next`, String(offsetMs));
  renameSync(`${CLOCK_FILE}-next`, CLOCK_FILE);
}

/** All clocks are right again. */
export function rightClocks(): void {
  rmSync(CLOCK_FILE, { force: true });
}
