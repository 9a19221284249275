/** Part of the limit that a batch may take; one that takes more leaves no room for a larger one. */
const ROOM = 1 / 2;
const GROWTH = 1.25;

/** Size of a batch: halves after one that was too slow, and grows again while there is time. */
export class BatchSize {
  readonly #quickMs: number;
  #most = Infinity;

  /** `timeoutMs`: the limit of a batch. */
  constructor(timeoutMs: number) {
    this.#quickMs = timeoutMs * ROOM;
  }

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
