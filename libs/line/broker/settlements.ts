/** One acknowledgement to send: of one message, or of all up to it that are not settled yet. */
export type Acknowledgement = { tag: number; isAllUpTo: boolean };

/**
 * What was settled on one channel, whose deliveries count 1, 2, 3, …. What is acknowledged in one go becomes as few
 * acknowledgements as possible: one for all, where no older message is still held. Each is a command to a quorum queue.
 */
export class Settlements {
  /** All below are settled. */
  #oldestHeld = 1;
  /** Settled beyond the oldest that is held. */
  readonly #ahead = new Set<number>();
  #unsent: number[] = [];

  acknowledge(tag: number): void {
    this.#settle(tag);
    this.#unsent.push(tag);
  }

  /** Told to the broker already: nothing is left to send for it. */
  giveBack(tag: number): void {
    this.#settle(tag);
  }

  /** What to send for all that was acknowledged since the last time. */
  take(): Acknowledgement[] {
    const unsent = this.#unsent;
    this.#unsent = [];
    const prefix = unsent.filter((tag) => tag < this.#oldestHeld);
    const others = unsent.filter((tag) => tag >= this.#oldestHeld);
    // The broker refuses a tag that it has seen settled: the last of them is new to it.
    const [last] = prefix.length === 0 ? [] : [prefix.reduce((a, b) => Math.max(a, b))];
    return [
      ...(last === undefined ? [] : [{ tag: last, isAllUpTo: prefix.length > 1 }]),
      ...others.map((tag) => ({ tag, isAllUpTo: false })),
    ];
  }

  #settle(tag: number): void {
    this.#ahead.add(tag);
    while (this.#ahead.delete(this.#oldestHeld)) this.#oldestHeld += 1;
  }
}
