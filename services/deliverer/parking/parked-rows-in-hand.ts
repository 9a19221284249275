import type { ConsumeCallbacks } from '@waybell/line/broker';
import { unpark } from '@waybell/line/delivery';
import { newSourceId, type ParkedRow, type Source } from '@waybell/line/messages';
import { placeOf, type RowKey } from './parking-store.ts';

/** A row that this process has taken, until it is deleted or given back. */
export type ParkedRowInHand = { row: ParkedRow; account: string; endpoint: string; shard: number; source: Source };

export type ParkedRowsInHandOptions = {
  consuming: ConsumeCallbacks;
  /** Called when rows are to be deleted: their effects are safe. */
  onSettled: () => void;
  /** Called when a row is no longer in hand. */
  onFreed: (of: ParkedRowInHand) => void;
};

/** Parked rows in hand, each a source of one message, like one from a queue. */
export class ParkedRowsInHand {
  readonly #options: ParkedRowsInHandOptions;
  readonly #byPlace = new Map<string, ParkedRowInHand>();
  readonly #ofEndpoint = new Map<string, number>();
  #toRemove: ParkedRowInHand[] = [];
  /** For each read under way: keys of rows deleted meanwhile, which it may still find. */
  readonly #readers = new Set<Set<string>>();
  #bytes = 0;
  /** Number of rows taken since the start. */
  taken = 0;

  constructor(options: ParkedRowsInHandOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#byPlace.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  countOf(endpoint: string): number {
    return this.#ofEndpoint.get(endpoint) ?? 0;
  }

  has(key: RowKey): boolean {
    return this.#byPlace.has(placeOf(key));
  }

  shards(): Set<number> {
    return new Set(Array.from(this.#byPlace.values(), ({ shard }) => shard));
  }

  take(taken: Omit<ParkedRowInHand, 'source'>, how: { deaths: number; isOverLimit: boolean }): void {
    const { row } = taken;
    const source: Source = {
      id: newSourceId(),
      messages: [unpark(row, how)],
      acknowledge: () => this.#acknowledge(inHand),
      giveBack: () => this.#free(inHand),
    };
    const inHand: ParkedRowInHand = { ...taken, source };
    this.#byPlace.set(placeOf(row), inHand);
    this.#count(inHand, 1);
    this.taken += 1;
    this.#options.consuming.onTaken(source);
  }

  /** Hands out rows to be deleted, each once. */
  toRemove(most: number): ParkedRowInHand[] {
    return this.#toRemove.splice(0, most);
  }

  get isRemoving(): boolean {
    return this.#toRemove.length > 0;
  }

  /** Resolves with what `read` finds, without rows deleted meanwhile. */
  async reading<T extends { rows: ParkedRow[] }>(read: () => Promise<T[]>): Promise<T[]> {
    const gone = new Set<string>();
    this.#readers.add(gone);
    try {
      const found = await read();
      return found.map((each) => ({ ...each, rows: each.rows.filter((row) => !gone.has(placeOf(row))) }));
    } finally {
      this.#readers.delete(gone);
    }
  }

  removed(rows: readonly ParkedRowInHand[]): void {
    for (const reader of this.#readers) for (const { row } of rows) reader.add(placeOf(row));
    for (const row of rows) this.#free(row);
  }

  /** Rows could not be deleted: keeps those that were not cut meanwhile for the next time. */
  notRemoved(rows: readonly ParkedRowInHand[]): void {
    this.#toRemove.push(...rows.filter((row) => this.#isHeld(row)));
  }

  /** Marks rows that another process may own: their effects must not be published here any more. */
  cut(isCut: (row: ParkedRowInHand) => boolean): void {
    for (const row of [...this.#byPlace.values()].filter(isCut)) {
      this.#free(row);
      this.#options.consuming.onCut(row.source);
    }
    this.#toRemove = this.#toRemove.filter((row) => this.#isHeld(row));
  }

  #acknowledge(row: ParkedRowInHand): void {
    if (!this.#isHeld(row)) return;
    this.#toRemove.push(row);
    this.#options.onSettled();
  }

  #free(row: ParkedRowInHand): void {
    if (!this.#isHeld(row)) return;
    this.#byPlace.delete(placeOf(row.row));
    this.#count(row, -1);
    this.#options.onFreed(row);
  }

  #count({ endpoint, row }: ParkedRowInHand, change: 1 | -1): void {
    this.#bytes += change * row.body.length;
    const count = this.countOf(endpoint) + change;
    if (count === 0) this.#ofEndpoint.delete(endpoint);
    else this.#ofEndpoint.set(endpoint, count);
  }

  #isHeld(row: ParkedRowInHand): boolean {
    return this.#byPlace.get(placeOf(row.row)) === row;
  }
}
