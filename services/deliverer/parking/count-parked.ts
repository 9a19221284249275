import type { ParkingStore } from './parking-store.ts';

/** Counts parked rows again: of shards that are new here, and where a sum was found to be wrong. */
export class CountParked {
  readonly #store: Pick<ParkingStore, 'recount'>;
  readonly #toCount = new Set<number>();

  constructor(store: Pick<ParkingStore, 'recount'>) {
    this.#store = store;
  }

  want(shards: readonly number[]): void {
    for (const shard of shards) this.#toCount.add(shard);
  }

  forget(isLost: (shard: number) => boolean): void {
    for (const shard of this.#toCount) if (isLost(shard)) this.#toCount.delete(shard);
  }

  /** One at a time: each has a limit of its own. */
  async go(): Promise<void> {
    for (const shard of this.#toCount) {
      await this.#store.recount([shard]);
      this.#toCount.delete(shard);
    }
  }
}
