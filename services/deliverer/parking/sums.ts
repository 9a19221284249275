import type { Sum } from './parking-store.ts';

/** What this process parked and deleted of each account since that was written down last. */
export class Sums {
  #changes = new Map<string, Sum>();

  add({ account, rows, bytes }: Sum): void {
    const known = this.#changes.get(account) ?? { account, rows: 0, bytes: 0 };
    this.#changes.set(account, { account, rows: known.rows + rows, bytes: known.bytes + bytes });
  }

  /** Hands them to `write`; keeps those that could not be written. */
  async flush(write: (changes: readonly Sum[]) => Promise<void>): Promise<void> {
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
