import { backoffMs } from '@waybell/runtime/backoff';
import type { TooMuch } from './endpoint.ts';

/** Pauses after "too much", while it goes on. */
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
/** A retry of the refused delivery within this time, as a carrier's is, … */
const SOON_MS = 10_000;
/** … comes this long before new deliveries. */
const AHEAD_MS = 250;

type TooMuchAnswer = TooMuch & { beganAt: number; now: number };

/**
 * Keeps new deliveries from an endpoint that answers "too much": for as long as it asks, otherwise for 1, 2, 4 … 60 s while it
 * goes on; and until the refused delivery is retried, if that is soon: new ones would take its place until it has no attempt
 * left. Times are milliseconds of one clock, given by the caller.
 */
export class Rest {
  #until = -Infinity;
  #pauses = 0;

  get until(): number {
    return this.#until;
  }

  /** A request that began during the rest does not double the pause, but may ask for a longer one. */
  tooMuch({ beganAt, now, askedMs, retryMs = Infinity }: TooMuchAnswer): void {
    if (askedMs !== undefined) {
      this.#until = Math.max(this.#until, now + askedMs);
    } else if (beganAt >= this.#until) {
      this.#pauses += 1;
      this.#until = now + backoffMs(PAUSES, this.#pauses);
    }
    if (retryMs < SOON_MS) this.#until = Math.max(this.#until, now + retryMs + AHEAD_MS);
  }

  /** The endpoint answered a request without "too much". */
  accepted(): void {
    this.#pauses = 0;
  }
}
