import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';

export type ShutdownOptions = { graceMs: number; log: Log; clock?: Clock };

/**
 * Resolves when the process is told to stop (SIGTERM, SIGINT). From then on it has `graceMs` to close what it opened;
 * past that, or at a second signal, it exits with 1. An error nobody caught is logged and ends the process with 1.
 */
export async function untilShutdown({ graceMs, log, clock = systemClock }: ShutdownOptions): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    let isStopping = false;
    const stop = (name: NodeJS.Signals) => {
      if (isStopping) exitAtOnce(log, 'shutdown.forced');
      isStopping = true;
      resolve(name);
    };
    // For good: with no listener left, even for a moment, the next signal would end the process without a word.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, stop);
  });
  log.info({ signal, graceMs }, 'shutdown.begun');
  clock.after(graceMs, () => exitAtOnce(log, 'shutdown.overdue')).unref();
}

/** Logs what would end the process anyway, so that it ends with a line that says why. */
export function logFatalErrors(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'process.failed');
    process.exit(1);
  });
}

function exitAtOnce(log: Log, message: string): void {
  log.warn(message);
  process.exit(1);
}
