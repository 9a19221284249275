/** The part of the time that a lot has: one that takes more leaves no room for a larger one. */
const ROOM = 1 / 2;
const GROWTH = 1.25;

/** How many records are written in one go: half as many after a lot that was too slow, and more again while there is time. */
export class LotSize {
  readonly #quickMs: number;
  #most = Infinity;

  /** `timeoutMs`: what a lot has time for. */
  constructor(timeoutMs: number) {
    this.#quickMs = timeoutMs * ROOM;
  }

  /** At least 1. */
  get most(): number {
    return this.#most;
  }

  wrote(records: number, tookMs: number): void {
    if (records >= this.#most && tookMs <= this.#quickMs) this.#most = Math.ceil(this.#most * GROWTH);
  }

  wasTooSlow(records: number): void {
    this.#most = Math.max(1, Math.floor(Math.min(records, this.#most) / 2));
  }
}
