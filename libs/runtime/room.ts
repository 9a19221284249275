/** So much of something that there is for all. A caller that finds too little waits, first come, first served. */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting = new Set<{ amount: number; onTaken: () => void }>();

  constructor(size: number) {
    this.#size = size;
  }

  /** False where there is not so much, or others wait. A caller that takes more than there is has it alone. */
  takeNow(amount: number): boolean {
    if (this.#waiting.size > 0 || !this.#fits(amount)) return false;
    this.#taken += amount;
    return true;
  }

  /** Resolves when it is taken. */
  async take(amount: number): Promise<void> {
    if (this.takeNow(amount)) return;
    await new Promise<void>((resolve) => this.takeLater(amount, resolve));
  }

  /** Waits, and calls when it is taken. What it returns gives up waiting: then nothing is taken, and those behind may fit. */
  takeLater(amount: number, onTaken: () => void): () => void {
    const waiter = { amount, onTaken };
    this.#waiting.add(waiter);
    return () => {
      if (this.#waiting.delete(waiter)) this.#letIn();
    };
  }

  giveBack(amount: number): void {
    this.#taken -= amount;
    this.#letIn();
  }

  #letIn(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.amount)) return;
      this.#waiting.delete(waiter);
      this.#taken += waiter.amount;
      waiter.onTaken();
    }
  }

  #fits(amount: number): boolean {
    return this.#taken === 0 || this.#taken + amount <= this.#size;
  }
}
