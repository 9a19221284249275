import { backoffMs } from '@waybell/runtime/backoff';

/** Pauses between restarts: 0.2 s, doubling to 10 s; back to 0.2 s once a run has lasted 30 s. */
export const RESTART_BACKOFF = { firstMs: 200, longestMs: 10_000, steadyMs: 30_000 };

/** Whether a process that has ended is started again; `soon`: after a second at most, if a test must not wait. */
export type RestartPolicy = 'never' | 'backed off' | 'soon';

const SOON_MS = 1_000;

/** How often in a row the process has ended early, its latest run included. */
export function failuresInARow({ before, ranMs }: { before: number; ranMs: number }): number {
  return ranMs >= RESTART_BACKOFF.steadyMs ? 1 : before + 1;
}

/** The pause before the next start, after that many failures in a row. */
export function restartDelayMs(failures: number, restart: Exclude<RestartPolicy, 'never'>): number {
  const longestMs = restart === 'soon' ? SOON_MS : RESTART_BACKOFF.longestMs;
  return backoffMs({ firstMs: RESTART_BACKOFF.firstMs, longestMs }, Math.max(1, failures));
}
