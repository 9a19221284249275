import type { TooMuch } from './endpoint.ts';

/** The first pause after "too much", doubled while it goes on. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** What it refused comes again within so long, as a carrier's does … */
const SOON_MS = 10_000;
/** … and is to be there before what is new. */
const AHEAD_MS = 250;

type Said = TooMuch & { beganAt: number; now: number };

/**
 * For how long an endpoint that says "too much" gets nothing new: as long as it asks for, else for 1, 2, 4 … 60 s while it
 * goes on; and until what it refused has come again, where that is soon: else what is new would take its place, until it has no
 * attempt left. Times are milliseconds of one clock, given by the caller.
 */
export class Rest {
  #until = -Infinity;
  #pauseMs = FIRST_MS;

  get until(): number {
    return this.#until;
  }

  /** What was begun before the rest was over is no new sign, but may ask for more. */
  tooMuch({ beganAt, now, askedMs, retryMs = Infinity }: Said): void {
    if (askedMs !== undefined) {
      this.#until = Math.max(this.#until, now + askedMs);
    } else if (beganAt >= this.#until) {
      this.#until = now + this.#pauseMs;
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_MS);
    }
    if (retryMs < SOON_MS) this.#until = Math.max(this.#until, now + retryMs + AHEAD_MS);
  }

  /** It took one. */
  tookOne(): void {
    this.#pauseMs = FIRST_MS;
  }
}
