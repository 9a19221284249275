import type { Clock } from '@waybell/runtime/clock';
import type { ParkingStore } from './parking-store.ts';
import { shardOf } from './shard-of.ts';

/** So long a count is good: sums drift a little with each crash, and with each commit that was not heard of. */
const GOOD_MS = 600_000;

/** Has what is parked counted: of shards that are new here, and of those whose bounds are to be kept. */
export class CountParked {
  readonly #store: Pick<ParkingStore, 'recount'>;
  readonly #clock: Clock;
  readonly #toCount = new Set<number>();
  readonly #countedAt = new Map<number, number>();

  constructor({ store, clock }: { store: Pick<ParkingStore, 'recount'>; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  want(shards: readonly number[]): void {
    for (const shard of shards) this.#toCount.add(shard);
  }

  /** Whether what is parked for the account was counted lately; if not, it is going to be. */
  isCounted(account: string): boolean {
    const shard = shardOf(account);
    const isCounted = this.#clock.now() - (this.#countedAt.get(shard) ?? -Infinity) < GOOD_MS;
    if (!isCounted) this.#toCount.add(shard);
    return isCounted;
  }

  forget(isLost: (shard: number) => boolean): void {
    for (const shard of this.#toCount) if (isLost(shard)) this.#toCount.delete(shard);
    for (const shard of this.#countedAt.keys()) if (isLost(shard)) this.#countedAt.delete(shard);
  }

  /** One at a time: each has a limit of its own. */
  async go(): Promise<void> {
    for (const shard of this.#toCount) {
      await this.#store.recount([shard]);
      this.#toCount.delete(shard);
      this.#countedAt.set(shard, this.#clock.now());
    }
  }
}
