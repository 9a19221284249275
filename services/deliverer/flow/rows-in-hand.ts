import type { HowTaken } from '@waybell/line/delivery';
import type { RowKey, Source } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import type { TakenKey, TakenRow, TakenRows } from '@waybell/line/waiting-room/waiting-store';

/** A row that this process has taken, until it is settled or given back. */
export type RowInHand = TakenKey & { readonly row: TakenRow; readonly how: HowTaken; source?: Source };

/** The rows in hand, by name: those of one claimed room. */
export type RowsOfRoom = Map<string, RowInHand>;

const NONE: ReadonlyMap<string, RowInHand> = new Map();

/** The rows in hand, by room, and what a read that is under way must not bring in hand again. */
export class RowsInHand {
  count = 0;
  bytes = 0;
  readonly limit: InHandLimit;
  readonly #rooms = new Map<string, RowsOfRoom>();
  /** While rows are read: those freed meanwhile, and subscriptions whose rows were moved, which the read may still find. */
  #goneSince: Set<string> | undefined;
  /** Subscriptions whose rows are being moved out of a room. */
  readonly #moving = new Set<string>();

  constructor(limit: InHandLimit) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.count >= this.limit.messages || this.bytes >= this.limit.bytes;
  }

  of(room: string): ReadonlyMap<string, RowInHand> {
    return this.#rooms.get(room) ?? NONE;
  }

  has(key: RowKey): boolean {
    return this.of(key.room).has(rowName(key));
  }

  /** Whether it is still in hand: it was not freed, nor its room lost. */
  isCurrent(row: RowInHand): boolean {
    return this.of(row.room).get(rowName(row)) === row;
  }

  add(row: TakenRow, how: HowTaken): RowInHand {
    const { room, madeAt, id, no } = row;
    const inHand = { room, madeAt, id, no, row, how };
    const rows = this.#rooms.get(room);
    if (rows === undefined) this.#rooms.set(room, new Map([[rowName(row), inHand]]));
    else rows.set(rowName(row), inHand);
    this.count += 1;
    this.bytes += row.content.body.length;
    return inHand;
  }

  /** Returns whether it was in hand. */
  free(row: RowInHand): boolean {
    if (!this.isCurrent(row)) return false;
    const rows = this.#rooms.get(row.room);
    rows?.delete(rowName(row));
    if (rows?.size === 0) this.#rooms.delete(row.room);
    this.count -= 1;
    this.bytes -= row.row.content.body.length;
    this.#goneSince?.add(`${row.room} ${rowName(row)}`);
    return true;
  }

  /** Rows of a subscription are being moved out of a room, until disposed of: none of them comes in hand meanwhile. */
  moving(what: { room: string; subscription: string }): Disposable {
    const name = subscriptionName(what);
    this.#moving.add(name);
    return {
      [Symbol.dispose]: () => {
        this.#moving.delete(name);
        this.#goneSince?.add(name);
      },
    };
  }

  /** A read begins. */
  beginRead(): void {
    this.#goneSince = new Set();
  }

  endRead(): void {
    this.#goneSince = undefined;
  }

  /** Returns what a read found without the rows that were freed since it began, or perhaps moved. */
  still({ rows }: Pick<TakenRows, 'rows'>): TakenRow[] {
    const isGone = (name: string) => this.#goneSince?.has(name) ?? false;
    return rows.filter((row) => {
      const moved = subscriptionName(row);
      return !this.#moving.has(moved) && !isGone(moved) && !isGone(`${row.room} ${rowName(row)}`);
    });
  }
}

const rowName = ({ madeAt, id }: RowKey): string => `${madeAt} ${id}`;
const subscriptionName = ({ room, subscription }: Pick<TakenRow, 'room' | 'subscription'>): string =>
  `${room} of ${subscription}`;
