export type WindowLimits = {
  /** Requests at once to one endpoint, at most. */
  maxSize: number;
  /**
   * An answer is quick up to here; a request without an answer for longer is silent, unless the endpoint is usually slow.
   */
  slowMs: number;
};

type WindowOptions = { size?: number; owner?: LimitShare };

/** `share`: this process's share of some limits, from 0 to 1. It may change. */
export type LimitShare = { readonly share: number };

const WHOLE: LimitShare = { share: 1 };

/** Size of a new endpoint's window, and the size to which an unused one shrinks. */
export const START_SIZE = 4;
const SHRINK_AFTER_MS = 10_000;
/** For this long a window does not grow to a size that was too much. */
const CAUTIOUS_MS = 10_000;
/** A request is silent after this many times the usual duration. */
const USUAL_TIMES = 3;
/** Weight of a new answer in the usual duration. */
const NEWEST_WEIGHT = 1 / 8;
/** Usual duration of a new endpoint. */
const UNKNOWN_MS = 10;

/**
 * Limits the concurrent requests of one endpoint: additive increase, multiplicative decrease (as in TCP). Grows by one for
 * each windowful of answers while it is used up, halves for timeouts and for "too much", once per round trip, and shrinks
 * by half while it is not needed. Times are milliseconds of one clock, given by the caller.
 */
export class Window {
  readonly #limits: WindowLimits;
  readonly #owner: LimitShare;
  #size: number;
  /** Negative before the first answer. */
  #usualMs = -1;
  #shrunkAt = -Infinity;
  // Most windows were never full nor too large: undefined takes less memory than a number.
  #fullAt: number | undefined;
  #halvedAt: number | undefined;
  #tooMuch: { readonly size: number; readonly at: number } | undefined;

  constructor(limits: WindowLimits, { size = START_SIZE, owner = WHOLE }: WindowOptions = {}) {
    this.#limits = limits;
    this.#owner = owner;
    this.#size = this.#shareOf(Math.min(size, limits.maxSize));
  }

  get size(): number {
    return Math.floor(Math.min(this.#size, this.#most));
  }

  /** A request without an answer for longer is silent. */
  get silenceLimitMs(): number {
    return Math.max(this.#limits.slowMs, USUAL_TIMES * this.#expectedMs);
  }

  /** How many requests are likely to begin within this time. */
  servedWithin(durationMs: number): number {
    return Math.ceil((this.size * durationMs) / Math.max(this.#expectedMs, 1));
  }

  /** `out`: requests under way, with the one that begins. */
  begin(out: number, now: number): void {
    if (out === 1 && now - Math.max(this.#fullAt ?? -Infinity, this.#shrunkAt) > SHRINK_AFTER_MS) this.#shrink(now);
    if (out >= this.size) this.#fullAt = now;
  }

  answer({ beganAt, now, isTooMuch = false }: { beganAt: number; now: number; isTooMuch?: boolean }): void {
    const durationMs = now - beganAt;
    if (isTooMuch && !this.#wasHalvedSince(beganAt)) this.#tooMuch = { size: this.#size, at: now };
    if (isTooMuch) this.halve({ beganAt, now });
    const wasFull = this.#fullAt !== undefined && this.#fullAt >= beganAt && !isTooMuch;
    if (wasFull && durationMs <= this.silenceLimitMs) {
      // A size from when there were fewer deliverers is kept for when there are fewer again.
      this.#size = Math.max(this.#size, Math.min(this.#size + 1 / this.#size, this.#most, this.#smallEnough(now)));
    }
    this.#usualMs = this.#usualMs < 0 ? durationMs : this.#usualMs + (durationMs - this.#usualMs) * NEWEST_WEIGHT;
  }

  /** Timeouts of requests that were under way together count once, and so do answers of "too much". */
  halve({ beganAt, now }: { beganAt: number; now: number }): void {
    if (this.#wasHalvedSince(beganAt)) return;
    this.#size = Math.max(1, this.#size / 2);
    this.#halvedAt = now;
  }

  get #expectedMs(): number {
    return this.#usualMs < 0 ? UNKNOWN_MS : this.#usualMs;
  }

  #wasHalvedSince(at: number): boolean {
    return this.#halvedAt !== undefined && at < this.#halvedAt;
  }

  #smallEnough(now: number): number {
    const tooMuch = this.#tooMuch;
    if (tooMuch === undefined || now - tooMuch.at > CAUTIOUS_MS) return Infinity;
    return Math.max(1, Math.ceil(tooMuch.size) - 1);
  }

  #shrink(now: number): void {
    this.#size = Math.max(Math.min(this.#shareOf(START_SIZE), this.#size), this.#size / 2);
    this.#shrunkAt = now;
  }

  get #most(): number {
    return this.#shareOf(this.#limits.maxSize);
  }

  #shareOf(size: number): number {
    return Math.max(1, size * this.#owner.share);
  }
}
