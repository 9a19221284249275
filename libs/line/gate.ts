import { backoffMs } from '@waybell/runtime/backoff';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Unavailable } from '@waybell/runtime/unavailable';

const BACKOFF = { firstMs: 50, longestMs: 5_000 };
/** An outage this soon after the last one continues with its delay: the probe succeeds, but the work fails. */
const SAME_OUTAGE_MS = 10_000;

export type GateOptions = {
  clock: Clock;
  log: Log;
  /** Messages are held during a short outage, and given back after this time. */
  holdMs: number;
  /** Awaited before messages are given back, to stop taking: they would otherwise be redelivered at once. */
  beforeGivingBack: () => Promise<void>;
  onOutlasted: () => void;
  onBack: () => void;
};

type Outage = { dependency: string; giveBack: Timer };

/** Shuts while a dependency is away, and probes it until it is back. Reports when the outage outlasts `holdMs`. */
export class Gate {
  readonly #options: GateOptions;
  readonly #closing = new AbortController();
  #outage: Outage | undefined;
  #probes = 0;
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

  /** Stops probing for good. */
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
    if (beganAt - this.#reopenedAt > SAME_OUTAGE_MS) this.#probes = 0;
    while (!(await this.#isBack(probe))) if (this.#isClosed()) return;
    this.#outage = undefined;
    giveBack[Symbol.dispose]();
    this.#reopenedAt = clock.now();
    log.info({ dependency, awayMs: Math.round(this.#reopenedAt - beganAt) }, 'dependency.back');
    onBack();
  }

  async #isBack(probe: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#options.clock.sleep(backoffMs(BACKOFF, this.#probes + 1), this.#closing.signal);
      if (this.#isClosed()) return false;
      this.#probes += 1;
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
