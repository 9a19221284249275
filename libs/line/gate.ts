import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import type { Unavailable } from '@waybell/runtime/unavailable';

const FIRST_PROBE_MS = 50;
const LONGEST_PROBE_MS = 5_000;
/** An outage that follows its predecessor this closely goes on with its delay: the probe works, the work does not. */
const SAME_OUTAGE_MS = 10_000;

export type GateOptions = {
  log: Log;
  /** A short outage is waited out with the messages in hand; after this long they are given back. */
  holdMs: number;
  onGiveBack: () => void;
  onReopen: () => void;
};

/** Stands before the handler. Shut while a dependency is away: who arrives waits, or is told to give back. */
export class Gate {
  readonly #options: GateOptions;
  #outage: { dependency: string; over: Promise<boolean> } | undefined;
  #isClosed = false;
  #closing = new AbortController();
  #delayMs = FIRST_PROBE_MS;
  #reopenedAt = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** True: go on. False: give the message back. */
  async pass(): Promise<boolean> {
    while (this.#outage !== undefined && !this.#isClosed) {
      if (!(await this.#outage.over)) return false;
    }
    return !this.#isClosed;
  }

  waitingFor(): string[] {
    return this.#outage === undefined ? [] : [this.#outage.dependency];
  }

  shut(unavailable: Unavailable): void {
    if (this.#outage !== undefined || this.#isClosed) return;
    const { dependency, cause } = unavailable;
    this.#options.log.warn(
      { dependency, reason: cause instanceof Error ? cause.message : undefined },
      'dependency.away',
    );
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#outage = { dependency, over: promise };
    void this.#waitOut(unavailable, resolve);
  }

  /** For good: whoever has not passed gives back. */
  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
  }

  async #waitOut({ dependency, probe }: Unavailable, end: (goOn: boolean) => void): Promise<void> {
    const startedAt = Date.now();
    if (startedAt - this.#reopenedAt > SAME_OUTAGE_MS) this.#delayMs = FIRST_PROBE_MS;
    const giveBack = setTimeout(() => {
      this.#options.onGiveBack();
      end(false);
    }, this.#options.holdMs);
    const signal = this.#closing.signal;
    signal.addEventListener('abort', () => end(false), { once: true });
    while (!signal.aborted) {
      try {
        await sleep(this.#delayMs, undefined, { signal });
        this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_PROBE_MS);
        await probe();
        break;
      } catch {
        // Still away.
      }
    }
    clearTimeout(giveBack);
    this.#outage = undefined;
    this.#reopenedAt = Date.now();
    if (!signal.aborted) {
      this.#options.log.info({ dependency, awayMs: Date.now() - startedAt }, 'dependency.back');
      this.#options.onReopen();
    }
    end(!signal.aborted);
  }
}
