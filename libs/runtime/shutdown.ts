import { systemClock, type Clock } from './clock.ts';
import { endingMs } from './grace.ts';
import { CannotListen } from './health.ts';
import type { Log } from './log.ts';

export type ShutdownOptions = { graceMs: number; log: Log; clock?: Clock };

/** Nothing waits for what is left of a process that has closed everything. */
const LINGER_MS = 1_000;

/**
 * How the process ends, from SIGTERM or SIGINT on:
 *
 *   begun ── nothing more is taken, what is in hand ends ──▶ due ── the rest is given back, all is closed ──▶ exit
 *
 * This is the only place that knows the grace time. Where it is over before all is closed, or at a second signal, the
 * process exits at once.
 */
export class Shutdown {
  readonly #options: Required<ShutdownOptions>;
  readonly #begun = new AbortController();
  readonly #due = new AbortController();
  readonly #watched: (() => number)[] = [];
  #isAwaited = false;

  constructor(options: ShutdownOptions) {
    this.#options = { clock: systemClock, ...options };
    // For good: with no listener left, even for a moment, the next signal would end the process without a word.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => this.#hear(name));
  }

  /** Given when the process is told to stop: nothing more is taken. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** Given when what is in hand has had its time: it is cut, and given back. */
  get due(): AbortSignal {
    return this.#due.signal;
  }

  /** `held`: messages in hand. With any left at the end of the grace time, the process has failed. */
  watch(held: () => number): void {
    this.#watched.push(held);
  }

  /** To be asked for once the process works: told to stop before that, it holds nothing and exits at once. */
  async untilBegun(): Promise<void> {
    this.#isAwaited = true;
    if (!this.begun.aborted) await untilGiven(this.begun);
  }

  /** All is closed. */
  ended(): void {
    const { log, clock } = this.#options;
    log.info('process.stopped');
    if (this.begun.aborted) clock.after(LINGER_MS, () => process.exit()).unref();
  }

  #hear(signal: NodeJS.Signals): void {
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

  /** A connection that only lacked an answer to its closing has not failed. */
  #overdue(): void {
    const held = this.#watched.reduce((sum, each) => sum + each(), 0);
    exitAtOnce(this.#options.log, 'shutdown.overdue', held > 0 ? 1 : 0);
  }
}

export function untilGiven(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Logs what would end the process anyway, so that it ends with a line that says why. */
export function logFatalErrors(log: Log): void {
  process.on('uncaughtException', (error) => {
    // It is no bug, and where it was found helps with nothing.
    log.fatal(error instanceof CannotListen ? { reason: error.message } : { err: error }, 'process.failed');
    process.exit(1);
  });
}

function exitAtOnce(log: Log, message: string, code: 0 | 1): void {
  log.warn(message);
  process.exit(code);
}
