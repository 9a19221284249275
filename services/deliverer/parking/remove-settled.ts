import type { OwnedEndpoints } from './owned-endpoints.ts';
import type { ParkingStore } from './parking-store.ts';
import type { ParkedRowsInHand } from './parked-rows-in-hand.ts';
import type { SumChanges } from './sum-changes.ts';

export type RemoveSettledOptions = {
  store: Pick<ParkingStore, 'remove'>;
  owned: OwnedEndpoints;
  inHand: ParkedRowsInHand;
  sums: SumChanges;
  onFailed: (error: unknown) => void;
};

const MOST_REMOVED = 500;

/** Deletes rows when their effects are safe elsewhere: rows settled meanwhile go together, by one statement. */
export class RemoveSettled {
  readonly #options: RemoveSettledOptions;
  #underWay: Promise<void> | undefined;

  constructor(options: RemoveSettledOptions) {
    this.#options = options;
  }

  /** Resolves when nothing is left to delete, or nothing can be. Never rejects. */
  go(): Promise<void> {
    this.#underWay ??= this.#removeAll().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #removeAll(): Promise<void> {
    const { inHand, onFailed } = this.#options;
    try {
      await Promise.resolve();
      while (inHand.isRemoving) await this.#removeSome();
    } catch (error) {
      onFailed(error);
    }
  }

  async #removeSome(): Promise<void> {
    const { store, owned, inHand, sums } = this.#options;
    const rows = inHand.toRemove(MOST_REMOVED);
    try {
      await store.remove(rows.map(({ row }) => row));
    } catch (error) {
      inHand.notRemoved(rows);
      throw error;
    }
    inHand.removed(rows);
    for (const { account, endpoint, row } of rows) {
      sums.add({ account, rows: -1, bytes: -row.body.length });
      owned.lives(endpoint);
    }
  }
}
