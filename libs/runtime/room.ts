/** So much of something that there is for all. A caller that finds too little waits, first come, first served. */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: { amount: number; resolve: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** False where there is not so much, or others wait. A caller that takes more than there is has it alone. */
  takeNow(amount: number): boolean {
    if (this.#waiting.length > 0 || !this.#fits(amount)) return false;
    this.#taken += amount;
    return true;
  }

  /** Resolves when it is taken. */
  async take(amount: number): Promise<void> {
    if (this.takeNow(amount)) return;
    await new Promise<void>((resolve) => this.#waiting.push({ amount, resolve }));
  }

  giveBack(amount: number): void {
    this.#taken -= amount;
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.amount); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#taken += next.amount;
      next.resolve();
    }
  }

  #fits(amount: number): boolean {
    return this.#taken === 0 || this.#taken + amount <= this.#size;
  }
}
