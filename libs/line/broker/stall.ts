import { backoffMs } from '@waybell/runtime/backoff';

/** A destination stalls when it has not confirmed for 2 s while the broker confirmed later publishes. */
export const STALLED_MS = 2_000;
const BACKOFF = { firstMs: 30_000, longestMs: 600_000 };

/** Decides whether a destination stalls, and when to probe it. Times come from a monotonic clock. */
export class Stall {
  #since: number | undefined;
  #answeredAt = -Infinity;
  #nextProbeAt = Infinity;
  #probes = 0;

  get isOn(): boolean {
    return this.#since !== undefined;
  }

  /** Notes that its queue confirmed or refused a publish. Returns how long it had stalled; undefined if it had not. */
  answered(now: number): number | undefined {
    const stalledMs = this.#since === undefined ? undefined : Math.round(now - this.#since);
    this.#answeredAt = now;
    this.#since = undefined;
    return stalledMs;
  }

  /** Returns true if a stall begins now. `since`: its oldest unanswered publish; `answeredUpTo`: the latest answered one anywhere. */
  begins(now: number, { since, answeredUpTo }: { since: number; answeredUpTo: number }): boolean {
    if (this.isOn || answeredUpTo - Math.max(since, this.#answeredAt) <= STALLED_MS) return false;
    this.#since = now;
    this.#probes = 0;
    this.#plan(now);
    return true;
  }

  /** Whether a message may be published now as a probe. */
  takesProbe(now: number): boolean {
    if (now < this.#nextProbeAt) return false;
    this.#plan(now);
    return true;
  }

  #plan(now: number): void {
    this.#probes += 1;
    this.#nextProbeAt = now + backoffMs(BACKOFF, this.#probes);
  }
}
