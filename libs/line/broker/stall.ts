/** A destination stalls that has not answered for so long when the broker has answered what was sent after that. */
export const STALLED_MS = 2_000;
const FIRST_PROBE_MS = 30_000;
const LONGEST_PROBE_MS = 600_000;

/** Whether a destination stalls, by a clock that cannot be set. */
export class Stall {
  #since: number | undefined;
  #answeredAt = -Infinity;
  #nextProbeAt = Infinity;
  #probeMs = FIRST_PROBE_MS;

  get isOn(): boolean {
    return this.#since !== undefined;
  }

  /** Its queue has confirmed or refused something. How long it has stalled until then; undefined where it did not. */
  answered(now: number): number | undefined {
    const stalledMs = this.#since === undefined ? undefined : Math.round(now - this.#since);
    this.#answeredAt = now;
    this.#since = undefined;
    return stalledMs;
  }

  /** True when it begins now: something waits since then, and the broker has answered what was sent elsewhere later. */
  begins(now: number, { since, answeredUpTo }: { since: number; answeredUpTo: number }): boolean {
    if (this.isOn || answeredUpTo - Math.max(since, this.#answeredAt) <= STALLED_MS) return false;
    this.#since = now;
    this.#probeMs = FIRST_PROBE_MS;
    this.#nextProbeAt = now + FIRST_PROBE_MS;
    return true;
  }

  /** Whether a message may be let through now, to see. */
  takesProbe(now: number): boolean {
    if (now < this.#nextProbeAt) return false;
    this.#probeMs = Math.min(this.#probeMs * 2, LONGEST_PROBE_MS);
    this.#nextProbeAt = now + this.#probeMs;
    return true;
  }
}
