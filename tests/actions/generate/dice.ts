/** Chances that a seed decides: the same seed makes the same choices on every machine. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0;
  }

  /** A whole number from 0 up to but not including `sides` (mulberry32). */
  below(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }

  /** True once in `sides` times. */
  oneIn(sides: number): boolean {
    return this.below(sides) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('there is nothing to choose from');
    return choices[this.below(choices.length)] as T; // Within the list, so a T, be that undefined.
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: this.below(2 ** 30) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}
