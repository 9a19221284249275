const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Routing keys whose events are not confirmed for now, so that they do not stand before all others; tried again ever more seldom. */
export class HeldKeys {
  readonly #held = new Map<string, { until: number; forMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get keys(): string[] {
    return [...this.#held].flatMap(([key, { until }]) => (until > this.#now() ? [key] : []));
  }

  learn({ confirmedKeys, lateKeys }: { confirmedKeys: Iterable<string>; lateKeys: Iterable<string> }): void {
    for (const key of confirmedKeys) this.#held.delete(key);
    for (const key of lateKeys) {
      const forMs = Math.min(LONGEST_MS, (this.#held.get(key)?.forMs ?? FIRST_MS / 2) * 2);
      this.#held.set(key, { until: this.#now() + forMs, forMs });
    }
  }
}
