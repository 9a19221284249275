/**
 * A counting semaphore: callers take an amount and wait, first come, first served. A caller that takes more than the size has it
 * alone.
 */
export class Budget {
  readonly #size: number;
  #taken = 0;
  readonly #waiters = new Set<{ amount: number; onTaken: () => void }>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Returns false if too little is left or others wait. */
  tryAcquire(amount: number): boolean {
    if (this.#waiters.size > 0 || !this.#fits(amount)) return false;
    this.#taken += amount;
    return true;
  }

  /** Resolves when the amount is taken. */
  async acquire(amount: number): Promise<void> {
    if (this.tryAcquire(amount)) return;
    await new Promise<void>((resolve) => this.acquireLater(amount, resolve));
  }

  /**
   * Calls `onTaken` when the amount is taken. The returned function stops waiting and takes nothing; those behind may then fit.
   */
  acquireLater(amount: number, onTaken: () => void): () => void {
    const waiter = { amount, onTaken };
    this.#waiters.add(waiter);
    return () => {
      if (this.#waiters.delete(waiter)) this.#admit();
    };
  }

  release(amount: number): void {
    this.#taken -= amount;
    this.#admit();
  }

  #admit(): void {
    for (const waiter of this.#waiters) {
      if (!this.#fits(waiter.amount)) return;
      this.#waiters.delete(waiter);
      this.#taken += waiter.amount;
      waiter.onTaken();
    }
  }

  #fits(amount: number): boolean {
    return this.#taken === 0 || this.#taken + amount <= this.#size;
  }
}
