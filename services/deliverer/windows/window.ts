/** How a request went: answered at once, delivered but slowly, or with nothing but waiting to show for it. */
export type Ending = 'quick' | 'slow' | 'hung';

/** What is to be expected of an origin: what its last request was like, or `new` where there was none. */
export type Trust = Ending | 'new';

export type WindowLimits = {
  /** Requests at once that an origin may have at most. */
  maxSize: number;
  /** An answer is quick up to here; an origin that says nothing for longer gets no more, unless that is its way. */
  slowMs: number;
};

/** As many a new origin begins with, and one that had no use for more goes back to. */
const START_SIZE = 1;
const SHRINK_AFTER_MS = 10_000;
/** An origin is waited for this many times as long as it usually takes. */
const USUAL_TIMES = 3;
/** The part of a new answer in the usual duration. */
const NEWEST_PART = 1 / 8;
/** What a new origin is thought to take. */
const UNKNOWN_MS = 10;

/**
 * How many requests one origin may have under way: additive increase, multiplicative decrease (as in TCP). Grows by one
 * for each windowful of answers while it is used up, halves for timeouts, once per round trip, and is forgotten half by
 * half while it is not needed. Times are milliseconds of one clock, given by the caller.
 */
export class Window {
  readonly #limits: WindowLimits;
  #size = START_SIZE;
  #out = 0;
  #trust: Trust;
  #usualMs: number | undefined;
  /** When it last answered or timed out, or began to have something to answer. */
  #heardAt = -Infinity;
  #halvedAt = -Infinity;
  #fullAt = -Infinity;

  constructor(limits: WindowLimits, trust: Trust = 'new') {
    this.#limits = limits;
    this.#trust = trust;
  }

  get trust(): Trust {
    return this.#trust;
  }

  /** Requests under way. */
  get out(): number {
    return this.#out;
  }

  /** Requests that may be under way: one at a time while it only times out. */
  get size(): number {
    return this.#trust === 'hung' ? 1 : Math.min(Math.floor(this.#size), this.#limits.maxSize);
  }

  hasRoom(now: number): boolean {
    return this.#out < this.size && !this.#isSilent(now);
  }

  /** It only times out, or says nothing at this moment: there is no point in waiting for it. */
  isHung(now: number): boolean {
    return this.#trust === 'hung' || this.#isSilent(now);
  }

  /** How many requests are likely to get their turn within so long. */
  servedWithin(durationMs: number): number {
    return Math.ceil((this.size * durationMs) / Math.max(this.#usualMs ?? UNKNOWN_MS, 1));
  }

  begin(now: number): void {
    if (this.#out === 0) {
      this.#heardAt = now;
      if (now - this.#fullAt > SHRINK_AFTER_MS) this.#shrink(now);
    }
    this.#out += 1;
    if (this.#out >= this.size) this.#fullAt = now;
  }

  end({ ending, beganAt, now }: { ending: Ending; beganAt: number; now: number }): void {
    this.#out -= 1;
    this.#heardAt = now;
    this.#trust = ending;
    if (ending === 'hung') return this.#halve(beganAt, now);
    const durationMs = now - beganAt;
    const wasFull = this.#fullAt >= beganAt;
    if (wasFull && durationMs <= this.#patienceMs) {
      this.#size = Math.min(this.#size + 1 / this.#size, this.#limits.maxSize);
    }
    this.#usualMs =
      this.#usualMs === undefined ? durationMs : this.#usualMs + (durationMs - this.#usualMs) * NEWEST_PART;
  }

  get #patienceMs(): number {
    return Math.max(this.#limits.slowMs, USUAL_TIMES * (this.#usualMs ?? UNKNOWN_MS));
  }

  #isSilent(now: number): boolean {
    return this.#out > 0 && now - this.#heardAt > this.#patienceMs;
  }

  /** Timeouts of requests that were under way together are one sign, not many. */
  #halve(beganAt: number, now: number): void {
    if (beganAt < this.#halvedAt) return;
    this.#size = Math.max(1, this.#size / 2);
    this.#halvedAt = now;
  }

  #shrink(now: number): void {
    this.#size = Math.max(Math.min(START_SIZE, this.#size), this.#size / 2);
    this.#fullAt = now;
  }
}
