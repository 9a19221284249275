import { backoffMs } from '@waybell/runtime/backoff';

const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };

/** Routing keys whose events are not confirmed for now, so that they do not stand before all others; tried again ever more seldom. */
export class HeldKeys {
  readonly #held = new Map<string, { until: number; times: number }>();
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
      const times = (this.#held.get(key)?.times ?? 0) + 1;
      this.#held.set(key, { until: this.#now() + backoffMs(BACKOFF, times), times });
    }
  }
}
