import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Unavailable } from '@waybell/runtime/unavailable';

const FIRST_PROBE_MS = 50;
const LONGEST_PROBE_MS = 5_000;
/** An outage that follows its predecessor this closely goes on with its delay: the probe works, the work does not. */
const SAME_OUTAGE_MS = 10_000;

export type GateOptions = {
  clock: Clock;
  log: Log;
  /** A short outage is waited out with the messages in hand; after this long they are given back. */
  holdMs: number;
  /** Runs before anything is given back, to its end: what still comes meanwhile would go round and round. */
  onGiveBack: () => Promise<void>;
  onReopen: () => void;
};

type Outage = { dependency: string; over: Promise<boolean>; end: (goOn: boolean) => void };

/** Stands before the handler. Shut while a dependency is away: who arrives waits, or is told to give back. */
export class Gate {
  readonly #options: GateOptions;
  readonly #closing = new AbortController();
  #outage: Outage | undefined;
  #delayMs = FIRST_PROBE_MS;
  #reopenedAt = -Infinity;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** True: go on. False: give the message back. */
  async pass(): Promise<boolean> {
    while (this.#outage !== undefined && !this.#isClosed()) {
      if (!(await this.#outage.over)) return false;
    }
    return !this.#isClosed();
  }

  waitingFor(): string[] {
    return this.#outage === undefined ? [] : [this.#outage.dependency];
  }

  shut({ dependency, probe, cause }: Unavailable): void {
    if (this.#outage !== undefined || this.#isClosed()) return;
    const { clock, log, holdMs, onGiveBack } = this.#options;
    log.warn({ dependency, reason: cause instanceof Error ? cause.message : undefined }, 'dependency.away');
    const { promise: over, resolve } = Promise.withResolvers<boolean>();
    const giveBack = clock.after(holdMs, () => void onGiveBack().then(() => resolve(false)));
    const end = (goOn: boolean) => {
      giveBack[Symbol.dispose]();
      resolve(goOn);
    };
    this.#outage = { dependency, over, end };
    void this.#waitOut(this.#outage, probe);
  }

  /** For good: whoever has not passed gives back. */
  close(): void {
    this.#closing.abort();
    this.#outage?.end(false);
  }

  async #waitOut(outage: Outage, probe: () => Promise<unknown>): Promise<void> {
    const beganAt = this.#options.clock.now();
    if (beganAt - this.#reopenedAt > SAME_OUTAGE_MS) this.#delayMs = FIRST_PROBE_MS;
    while (!(await this.#isBack(probe))) if (this.#isClosed()) return;
    this.#outage = undefined;
    this.#reopenedAt = this.#options.clock.now();
    const awayMs = Math.round(this.#reopenedAt - beganAt);
    this.#options.log.info({ dependency: outage.dependency, awayMs }, 'dependency.back');
    this.#options.onReopen();
    outage.end(true);
  }

  async #isBack(probe: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#options.clock.sleep(this.#delayMs, this.#closing.signal);
      if (this.#isClosed()) return false;
      this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_PROBE_MS);
      await probe();
      return !this.#isClosed();
    } catch {
      return false;
    }
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}
