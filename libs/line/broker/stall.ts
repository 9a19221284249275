/** A destination stalls when it has not confirmed for 2 s while the broker confirmed later publishes. */
export const STALLED_MS = 2_000;
const FIRST_PROBE_MS = 30_000;
const LONGEST_PROBE_MS = 600_000;

/** Decides whether a destination stalls, and when to probe it. Times come from a monotonic clock. */
export class Stall {
  #since: number | undefined;
  #answeredAt = -Infinity;
  #nextProbeAt = Infinity;
  #probeMs = FIRST_PROBE_MS;

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
    this.#probeMs = FIRST_PROBE_MS;
    this.#nextProbeAt = now + FIRST_PROBE_MS;
    return true;
  }

  /** Whether a message may be published now as a probe. */
  takesProbe(now: number): boolean {
    if (now < this.#nextProbeAt) return false;
    this.#probeMs = Math.min(this.#probeMs * 2, LONGEST_PROBE_MS);
    this.#nextProbeAt = now + this.#probeMs;
    return true;
  }
}
