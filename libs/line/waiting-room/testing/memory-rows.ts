import type { RowKey, TakenRow } from '../waiting-store.ts';

/** `dueAt` by the clock of the store; -Infinity: at once. `bytes`: of body and properties. */
export type StoredRow = TakenRow & { dueAt: number; bytes: number };

/**
 * Rows of one room in the order of their keys. Inserting or removing at either end moves few rows, however many
 * there are.
 */
export class MemoryRows {
  #rows: (StoredRow | undefined)[] = [];
  /** The index of the first row; the places before it are empty. */
  #first = 0;

  get size(): number {
    return this.#rows.length - this.#first;
  }

  get(key: RowKey): StoredRow | undefined {
    const there = this.#rows[this.#from(key)];
    return there !== undefined && compareKeys(there, key) === 0 ? there : undefined;
  }

  /** Inserts a row whose key is not there. */
  insert(row: StoredRow): void {
    const at = this.#from(row);
    if (this.#first > 0 && at - this.#first < this.#rows.length - at) {
      this.#rows.copyWithin(this.#first - 1, this.#first, at);
      this.#first -= 1;
      this.#rows[at - 1] = row;
    } else this.#rows.splice(at, 0, row);
  }

  /** Removes a row that is there. */
  remove(key: RowKey): void {
    const at = this.#from(key);
    if (at - this.#first < this.#rows.length - at) {
      this.#rows.copyWithin(this.#first + 1, this.#first, at);
      this.#rows[this.#first] = undefined;
      this.#first += 1;
      this.#compact();
    } else this.#rows.splice(at, 1);
  }

  /** Rows from the first, or after a key, whether its row is still there or not. */
  *after(key?: RowKey): Generator<StoredRow> {
    let at = key === undefined ? this.#first : this.#from(key);
    const there = this.#rows[at];
    if (key !== undefined && there !== undefined && compareKeys(there, key) === 0) at += 1;
    for (; at < this.#rows.length; at += 1) {
      const row = this.#rows[at];
      if (row !== undefined) yield row;
    }
  }

  /** The index of the first row with this key, or a later one. */
  #from(key: RowKey): number {
    let [low, high] = [this.#first, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const row = this.#rows[middle];
      if (row !== undefined && compareKeys(row, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    if (this.#first < 1_024 || this.#first * 2 < this.#rows.length) return;
    this.#rows = this.#rows.slice(this.#first);
    this.#first = 0;
  }
}

/** Orders the keys of one room. */
function compareKeys(one: RowKey, other: RowKey): number {
  return one.madeAt - other.madeAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
