import type { ConsumeCallbacks } from '@waybell/line/broker';
import { unpark } from '@waybell/line/delivery';
import { newSourceId, type ParkedRow, type Source } from '@waybell/line/messages';
import { placeOf, type RowKey } from './parking-store.ts';

/** A row that this process has taken, until it is deleted or given back. */
export type RowInHand = { row: ParkedRow; account: string; endpoint: string; shard: number; source: Source };

export type RowsInHandOptions = {
  consuming: ConsumeCallbacks;
  /** Some are to be deleted: what each became is safe elsewhere. */
  onSettled: () => void;
  /** One is in hand no more. */
  onFreed: (of: RowInHand) => void;
};

/** Parked rows in hand: each a source of one message, like one that a queue sent. */
export class RowsInHand {
  readonly #options: RowsInHandOptions;
  readonly #byPlace = new Map<string, RowInHand>();
  readonly #ofEndpoint = new Map<string, number>();
  #toRemove: RowInHand[] = [];
  /** For each reader at this moment: places of rows that were deleted meanwhile, and that it may still find. */
  readonly #readers = new Set<Set<string>>();
  #bytes = 0;
  /** Ever. */
  taken = 0;

  constructor(options: RowsInHandOptions) {
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

  take(taken: Omit<RowInHand, 'source'>, how: { deaths: number; isOverLimit: boolean }): void {
    const { row } = taken;
    const source: Source = {
      id: newSourceId(),
      messages: [unpark(row, how)],
      acknowledge: () => this.#acknowledge(inHand),
      giveBack: () => this.#free(inHand),
    };
    const inHand: RowInHand = { ...taken, source };
    this.#byPlace.set(placeOf(row), inHand);
    this.#count(inHand, 1);
    this.taken += 1;
    this.#options.consuming.onTaken(source);
  }

  /** What is to be deleted, and was not handed out before. */
  toRemove(most: number): RowInHand[] {
    return this.#toRemove.splice(0, most);
  }

  get isRemoving(): boolean {
    return this.#toRemove.length > 0;
  }

  /** What `read` finds, but what was deleted while it read. */
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

  removed(rows: readonly RowInHand[]): void {
    for (const reader of this.#readers) for (const { row } of rows) reader.add(placeOf(row));
    for (const row of rows) this.#free(row);
  }

  /** They could not be deleted now; unless they were cut in the meantime they are to be. */
  notRemoved(rows: readonly RowInHand[]): void {
    this.#toRemove.push(...rows.filter((row) => this.#isHeld(row)));
  }

  /** Another process has these shards, or may have: what is under way here must not be published any more. */
  cut(isCut: (row: RowInHand) => boolean): void {
    for (const row of [...this.#byPlace.values()].filter(isCut)) {
      this.#free(row);
      this.#options.consuming.onCut(row.source);
    }
    this.#toRemove = this.#toRemove.filter((row) => this.#isHeld(row));
  }

  #acknowledge(row: RowInHand): void {
    if (!this.#isHeld(row)) return;
    this.#toRemove.push(row);
    this.#options.onSettled();
  }

  #free(row: RowInHand): void {
    if (!this.#isHeld(row)) return;
    this.#byPlace.delete(placeOf(row.row));
    this.#count(row, -1);
    this.#options.onFreed(row);
  }

  #count({ endpoint, row }: RowInHand, change: 1 | -1): void {
    this.#bytes += change * row.body.length;
    const count = this.countOf(endpoint) + change;
    if (count === 0) this.#ofEndpoint.delete(endpoint);
    else this.#ofEndpoint.set(endpoint, count);
  }

  #isHeld(row: RowInHand): boolean {
    return this.#byPlace.get(placeOf(row.row)) === row;
  }
}
