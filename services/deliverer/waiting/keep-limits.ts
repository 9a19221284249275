import type { WaitingLimits, WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';

type KeepLimitsOptions = {
  store: Pick<WaitingStore, 'flushSums' | 'sumsBeyond' | 'endBeyond'>;
  limits: WaitingLimits;
  clock: Pick<Clock, 'now'>;
};

/** Interval of checking limits while nothing is put here: other processes check them too. */
const SELDOM_MS = 10_000;

/** Ends the oldest deliveries of an account beyond its limit, or of the largest account beyond the limit for all. */
export class KeepLimits {
  readonly #options: KeepLimitsOptions;
  #lookAt = -Infinity;

  constructor(options: KeepLimitsOptions) {
    this.#options = options;
  }

  hasPut(): void {
    this.#lookAt = -Infinity;
  }

  /** To be called once a second. Sums only select the accounts to read, and are recounted if they were wrong. */
  async look(): Promise<void> {
    const { store, limits, clock } = this.#options;
    await store.flushSums();
    if (clock.now() < this.#lookAt) return;
    this.#lookAt = clock.now() + SELDOM_MS;
    const { beyond } = await store.sumsBeyond(limits);
    for (const { holder, mayHave } of beyond) await store.endBeyond(holder, mayHave);
  }
}
