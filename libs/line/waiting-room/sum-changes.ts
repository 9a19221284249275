import type { HeldSum } from './waiting-store.ts';

/** `name`: of a destination, as its room has it. */
export type SumChange = HeldSum & { name?: string };

/** Counts what this process put and settled for each holder since the changes were last stored. */
export class SumChanges {
  #changes = new Map<string, SumChange>();

  add(change: SumChange): void {
    const { rows, bytes } = this.#changes.get(change.holder) ?? { rows: 0, bytes: 0 };
    this.#changes.set(change.holder, { ...change, rows: change.rows + rows, bytes: change.bytes + bytes });
  }

  /** Hands the changes to `write`; keeps them if that fails. */
  async flush(write: (changes: readonly SumChange[]) => Promise<void>): Promise<void> {
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
