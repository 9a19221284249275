/** Promises that resolve when a condition on local state holds. */
export class Conditions {
  readonly #waiting = new Set<() => void>();

  /** Checks all conditions, after a change of local state. */
  look(): void {
    // Mostly nothing waits; iterating over an empty set would make garbage for each input.
    if (this.#waiting.size > 0) for (const look of this.#waiting) look();
  }

  /** Resolves when the condition holds: now, or after a change. */
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
