import type { Clock, Timer } from '@waybell/runtime/clock';
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
  /** Runs to its end before anything is given back: what still came meanwhile would go round and round. */
  beforeGivingBack: () => Promise<void>;
  onOutlasted: () => void;
  onBack: () => void;
};

type Outage = { dependency: string; giveBack: Timer };

/** Shut while a dependency is away: it asks until that is back, or has been away for too long to be waited for. */
export class Gate {
  readonly #options: GateOptions;
  readonly #closing = new AbortController();
  #outage: Outage | undefined;
  #delayMs = FIRST_PROBE_MS;
  #reopenedAt = -Infinity;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  waitingFor(): string[] {
    return this.#outage === undefined ? [] : [this.#outage.dependency];
  }

  shut({ dependency, probe, cause }: Unavailable): void {
    if (this.#outage !== undefined || this.#isClosed()) return;
    const { clock, log, holdMs } = this.#options;
    log.warn({ dependency, reason: cause instanceof Error ? cause.message : undefined }, 'dependency.away');
    const outage = { dependency, giveBack: clock.after(holdMs, () => void this.#outlast(outage)) };
    this.#outage = outage;
    void this.#waitOut(outage, probe);
  }

  /** For good: nothing is waited for any more. */
  close(): void {
    this.#closing.abort();
    this.#outage?.giveBack[Symbol.dispose]();
  }

  async #outlast(outage: Outage): Promise<void> {
    await this.#options.beforeGivingBack();
    if (outage === this.#outage) this.#options.onOutlasted();
  }

  async #waitOut({ dependency, giveBack }: Outage, probe: () => Promise<unknown>): Promise<void> {
    const { clock, log, onBack } = this.#options;
    const beganAt = clock.now();
    if (beganAt - this.#reopenedAt > SAME_OUTAGE_MS) this.#delayMs = FIRST_PROBE_MS;
    while (!(await this.#isBack(probe))) if (this.#isClosed()) return;
    this.#outage = undefined;
    giveBack[Symbol.dispose]();
    this.#reopenedAt = clock.now();
    log.info({ dependency, awayMs: Math.round(this.#reopenedAt - beganAt) }, 'dependency.back');
    onBack();
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
