/** What is waited for, and is so by what happens here. */
export class Conditions {
  readonly #waiting = new Set<() => void>();

  /** Something happened. */
  look(): void {
    // Hardly ever is any waited for, and to look through an empty set makes garbage for each input.
    if (this.#waiting.size > 0) for (const look of this.#waiting) look();
  }

  /** Resolves once it is so: now, or when something has happened. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (isSo() && this.#waiting.delete(look)) resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
