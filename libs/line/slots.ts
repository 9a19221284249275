/** At most `limit` pieces of work at once; the others wait in order. */
export class Slots {
  readonly #limit: number;
  #used = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#used >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      await work();
    } finally {
      // The slot passes on to the next in line, or is free.
      const next = this.#waiting.shift();
      if (next === undefined) this.#used -= 1;
      else next();
    }
  }
}
