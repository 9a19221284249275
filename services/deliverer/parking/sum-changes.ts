import type { ParkedSum } from './parking-store.ts';

/** Counts what this process parked and deleted for each account since the changes were last stored. */
export class SumChanges {
  #changes = new Map<string, ParkedSum>();

  add({ account, rows, bytes }: ParkedSum): void {
    const known = this.#changes.get(account) ?? { account, rows: 0, bytes: 0 };
    this.#changes.set(account, { account, rows: known.rows + rows, bytes: known.bytes + bytes });
  }

  /** Hands the changes to `write`; keeps them if that fails. */
  async flush(write: (changes: readonly ParkedSum[]) => Promise<void>): Promise<void> {
    const changes = [...this.#changes.values()].filter(({ rows, bytes }) => rows !== 0 || bytes !== 0);
    this.#changes = new Map();
    if (changes.length === 0) return;
    try {
      await write(changes);
    } catch (error) {
      for (const change of changes) this.add(change);
      throw error;
    }
  }
}
