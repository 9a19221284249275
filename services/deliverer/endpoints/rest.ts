/** The first pause after "too much", doubled while it goes on. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

type Said = { beganAt: number; now: number; askedMs?: number | undefined };

/**
 * For how long an endpoint that says "too much" gets nothing new: as long as it asks for, else for 1, 2, 4 … 60 s while it
 * goes on. Times are milliseconds of one clock, given by the caller.
 */
export class Rest {
  #until = -Infinity;
  #pauseMs = FIRST_MS;

  get until(): number {
    return this.#until;
  }

  /** What was begun before the rest was over is no new sign, but may ask for more. */
  tooMuch({ beganAt, now, askedMs }: Said): void {
    if (askedMs !== undefined) {
      this.#until = Math.max(this.#until, now + askedMs);
    } else if (beganAt >= this.#until) {
      this.#until = now + this.#pauseMs;
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_MS);
    }
  }

  /** It took one. */
  tookOne(): void {
    this.#pauseMs = FIRST_MS;
  }
}
