import type { ConsumeCallbacks } from '@waybell/line/broker';
import { asWaited } from '@waybell/line/delivery';
import { newSourceId, type RowKey, type Source } from '@waybell/line/messages';
import type { TakenKey, TakenRow } from '@waybell/line/waiting-room/waiting-store';

/** A row that this process has taken, until it is settled or given back. */
export type RowInHand = TakenKey & { bytes: number; source: Source };

type Passed = { gone: number; last: RowKey | undefined };

export type RowsInHandOptions = {
  consuming: ConsumeCallbacks;
  /** Called with a row that is to be settled: its effects are safe. */
  onDone: (row: RowInHand) => void;
  /** Called when a row of a room is no longer in hand. */
  onFreed: (room: string) => void;
};

const NONE: ReadonlyMap<string, RowInHand> = new Map();

/** Rows in hand by their rooms, each a source of one message, like one from a queue. */
export class RowsInHand {
  readonly #options: RowsInHandOptions;
  readonly #rooms = new Map<string, Map<string, RowInHand>>();
  /** For each read under way: rows freed meanwhile, and subscriptions whose rows were moved, which it may still find. */
  readonly #readers = new Set<Set<string>>();
  /** Subscriptions whose rows are being moved out of a room. */
  readonly #moving = new Set<string>();
  count = 0;
  bytes = 0;

  constructor(options: RowsInHandOptions) {
    this.#options = options;
  }

  countOf(room: string): number {
    return this.#in(room).size;
  }

  has(key: RowKey): boolean {
    return this.#in(key.room).has(placeOf(key));
  }

  of(room: string): Iterable<RowKey> {
    return this.#in(room).values();
  }

  take(row: TakenRow, how: { crashes: number; isOverLimit: boolean }): void {
    const { room, madeAt, id, no } = row;
    const source: Source = {
      id: newSourceId(),
      messages: [asWaited(row, how)],
      acknowledge: () => this.#options.onDone(inHand),
      giveBack: () => this.free(inHand),
    };
    const inHand: RowInHand = { room, madeAt, id, no, bytes: row.publication.body.length, source };
    const rows = this.#rooms.get(room);
    if (rows === undefined) this.#rooms.set(room, new Map([[placeOf(row), inHand]]));
    else rows.set(placeOf(row), inHand);
    this.count += 1;
    this.bytes += inHand.bytes;
    this.#options.consuming.onTaken(source);
  }

  /** Resolves with what `read` finds. Rows freed meanwhile, or perhaps moved, are absent, and counted in `gone`; `last`: of all found. */
  async reading<T extends { rows: TakenRow[] }>(read: () => Promise<T[]>): Promise<(T & Passed)[]> {
    const freed = new Set<string>();
    this.#readers.add(freed);
    try {
      return (await read()).map((each) => {
        const isMoved = (of: string) => this.#moving.has(of) || freed.has(of);
        const isGone = (row: TakenRow) => isMoved(movedOf(row)) || freed.has(`${row.room} ${placeOf(row)}`);
        const rows = each.rows.filter((row) => !isGone(row));
        return { ...each, rows, gone: each.rows.length - rows.length, last: each.rows.at(-1) };
      });
    } finally {
      this.#readers.delete(freed);
    }
  }

  /** Moves rows of a subscription out of a room: none of them comes in hand meanwhile. */
  async moving<T>(what: { room: string; subscription: string }, move: () => Promise<T>): Promise<T> {
    this.#moving.add(movedOf(what));
    try {
      return await move();
    } finally {
      this.#moving.delete(movedOf(what));
      for (const freed of this.#readers) freed.add(movedOf(what));
    }
  }

  /** Whether it is still in hand: it was not freed, nor its room lost. */
  holds(row: RowInHand): boolean {
    return this.#rooms.get(row.room)?.get(placeOf(row)) === row;
  }

  free(row: RowInHand): void {
    if (!this.holds(row)) return;
    const rows = this.#rooms.get(row.room);
    rows?.delete(placeOf(row));
    if (rows?.size === 0) this.#rooms.delete(row.room);
    this.count -= 1;
    this.bytes -= row.bytes;
    for (const freed of this.#readers) freed.add(`${row.room} ${placeOf(row)}`);
    this.#options.onFreed(row.room);
  }

  /** Another process may have the room: the effects of its rows must not be published here any more. */
  cut(room: string): void {
    for (const row of this.#in(room).values()) {
      this.free(row);
      this.#options.consuming.onCut(row.source);
    }
  }

  #in(room: string): ReadonlyMap<string, RowInHand> {
    return this.#rooms.get(room) ?? NONE;
  }
}

const placeOf = ({ madeAt, id }: RowKey): string => `${madeAt} ${id}`;
const movedOf = ({ room, subscription }: Pick<TakenRow, 'room' | 'subscription'>): string =>
  `${room} of ${subscription}`;
