export type WindowLimits = {
  /** Requests at once that an endpoint may have at most. */
  maxSize: number;
  /** An answer is quick up to here; an endpoint that says nothing for longer is silent, unless that is its way. */
  slowMs: number;
};

type WindowOptions = { size?: number; part?: () => number };

/** As many a new endpoint begins with, and one that had no use for more goes back to. */
export const START_SIZE = 4;
const SHRINK_AFTER_MS = 10_000;
/** It grows to no size that was too much before this long has passed. */
const CAUTIOUS_MS = 10_000;
/** An endpoint is waited for this many times as long as it usually takes. */
const USUAL_TIMES = 3;
/** The part of a new answer in the usual duration. */
const NEWEST_PART = 1 / 8;
/** What a new endpoint is thought to take. */
const UNKNOWN_MS = 10;

/**
 * How many requests one endpoint may have under way: additive increase, multiplicative decrease (as in TCP). Grows by
 * one for each windowful of answers while it is used up, halves for timeouts and for "too much", once per round trip, and
 * is forgotten half by half while it is not needed. Times are milliseconds of one clock, given by the caller.
 */
export class Window {
  readonly #limits: WindowLimits;
  readonly #part: () => number;
  #size: number;
  #usualMs: number | undefined;
  #halvedAt = -Infinity;
  #tooMuch = { size: Infinity, at: -Infinity };
  #fullAt = -Infinity;
  #shrunkAt = -Infinity;

  /** `part`: what of the endpoint's limits this window is, of 1. It may change. */
  constructor(limits: WindowLimits, { size = START_SIZE, part = () => 1 }: WindowOptions = {}) {
    this.#limits = limits;
    this.#part = part;
    this.#size = this.#partOf(Math.min(size, limits.maxSize));
  }

  get size(): number {
    return Math.floor(Math.min(this.#size, this.#most));
  }

  /** An endpoint that says nothing for longer is silent. */
  get patienceMs(): number {
    return Math.max(this.#limits.slowMs, USUAL_TIMES * (this.#usualMs ?? UNKNOWN_MS));
  }

  /** How many requests are likely to get their turn within so long. */
  servedWithin(durationMs: number): number {
    return Math.ceil((this.size * durationMs) / Math.max(this.#usualMs ?? UNKNOWN_MS, 1));
  }

  /** A request begins; `out`: as many are under way with it. */
  begin(out: number, now: number): void {
    if (out === 1 && now - Math.max(this.#fullAt, this.#shrunkAt) > SHRINK_AFTER_MS) this.#shrink(now);
    if (out >= this.size) this.#fullAt = now;
  }

  answer({ beganAt, now, isTooMuch = false }: { beganAt: number; now: number; isTooMuch?: boolean }): void {
    const durationMs = now - beganAt;
    if (isTooMuch && beganAt >= this.#halvedAt) this.#tooMuch = { size: this.#size, at: now };
    if (isTooMuch) this.halve({ beganAt, now });
    const wasFull = this.#fullAt >= beganAt && !isTooMuch;
    if (wasFull && durationMs <= this.patienceMs) {
      // Of more while there were fewer deliverers: it is of more again once there are.
      this.#size = Math.max(this.#size, Math.min(this.#size + 1 / this.#size, this.#most, this.#smallEnough(now)));
    }
    this.#usualMs =
      this.#usualMs === undefined ? durationMs : this.#usualMs + (durationMs - this.#usualMs) * NEWEST_PART;
  }

  /** Timeouts of requests that were under way together are one sign, not many; so is that it was too much. */
  halve({ beganAt, now }: { beganAt: number; now: number }): void {
    if (beganAt < this.#halvedAt) return;
    this.#size = Math.max(1, this.#size / 2);
    this.#halvedAt = now;
  }

  #smallEnough(now: number): number {
    return now - this.#tooMuch.at > CAUTIOUS_MS ? Infinity : Math.max(1, Math.ceil(this.#tooMuch.size) - 1);
  }

  #shrink(now: number): void {
    this.#size = Math.max(Math.min(this.#partOf(START_SIZE), this.#size), this.#size / 2);
    this.#shrunkAt = now;
  }

  get #most(): number {
    return this.#partOf(this.#limits.maxSize);
  }

  #partOf(size: number): number {
    return Math.max(1, size * this.#part());
  }
}
