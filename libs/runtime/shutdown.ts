import { systemClock, type Clock } from './clock.ts';
import { endingMs } from './grace.ts';
import { CannotListen } from './health.ts';
import type { Log } from './log.ts';

export type ShutdownOptions = { graceMs: number; log: Log; clock?: Clock };

/** Grace for what remains of a process that has closed everything. */
const LINGER_MS = 1_000;

/**
 * How the process ends, from SIGTERM or SIGINT on:
 *
 *   begun ── nothing more is accepted, work in hand ends ──▶ due ── the rest is given back, all is closed ──▶ exit
 *
 * Only this class knows the grace time. If that is over before all is closed, or at a second signal, the process exits at
 * once.
 */
export class Shutdown {
  readonly #options: Required<ShutdownOptions>;
  readonly #begun = new AbortController();
  readonly #due = new AbortController();
  readonly #watched: (() => number)[] = [];
  #isAwaited = false;

  constructor(options: ShutdownOptions) {
    this.#options = { clock: systemClock, ...options };
    // Never removed: without a listener, even for a moment, the next signal would end the process without a log line.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => this.#onSignal(name));
  }

  /** Aborted when the process is asked to stop: it accepts nothing more. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** Aborted when the time for work in hand is over: it is cut and given back. */
  get due(): AbortSignal {
    return this.#due.signal;
  }

  /** `inHand`: returns the number of messages in hand. If any are left at the end of the grace time, the process has failed. */
  watch(inHand: () => number): void {
    this.#watched.push(inHand);
  }

  /** Await it once the process works: if asked to stop earlier, it has nothing in hand and exits at once. */
  async untilBegun(): Promise<void> {
    this.#isAwaited = true;
    if (!this.begun.aborted) await untilGiven(this.begun);
  }

  /** Notes that all is closed. */
  ended(): void {
    const { log, clock } = this.#options;
    log.info('process.stopped');
    if (this.begun.aborted) clock.after(LINGER_MS, () => process.exit()).unref();
  }

  #onSignal(signal: NodeJS.Signals): void {
    const { graceMs, log, clock } = this.#options;
    if (this.begun.aborted) return exitAtOnce(log, 'shutdown.forced', 1);
    log.info({ signal, graceMs }, 'shutdown.begun');
    this.#begun.abort();
    if (!this.#isAwaited) {
      log.info('process.stopped');
      process.exit(0);
    }
    clock.after(endingMs(graceMs), () => this.#due.abort()).unref();
    clock.after(graceMs, () => this.#overdue()).unref();
  }

  /** A connection that only lacks the answer to its close is no failure. */
  #overdue(): void {
    const inHand = this.#watched.reduce((sum, each) => sum + each(), 0);
    exitAtOnce(this.#options.log, 'shutdown.overdue', inHand > 0 ? 1 : 0);
  }
}

export function untilGiven(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Logs errors that end the process, so that its last line says why. */
export function logFatalErrors(log: Log): void {
  process.on('uncaughtException', (error) => {
    // No bug, so its stack is of no use.
    log.fatal(error instanceof CannotListen ? { reason: error.message } : { err: error }, 'process.failed');
    process.exit(1);
  });
}

function exitAtOnce(log: Log, message: string, code: 0 | 1): void {
  log.warn(message);
  process.exit(code);
}
