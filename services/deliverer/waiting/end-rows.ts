import type { RowKey } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { MOST_ROWS, type RowsWanted, type WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import type { ClaimedRooms, RoomInHand } from './claimed-rooms.ts';
import type { RowsInHand } from './rows-in-hand.ts';

/** Rows that end without an attempt, whatever their endpoint does. The handler decides how each ends. */
export type RowsToEnd = {
  own: RoomInHand;
  /** Milliseconds since the epoch. */
  madeBefore: number;
  /** Absent: of all. */
  subscriptions?: readonly string[];
  isOverLimit?: boolean;
};

export type EndRowsOptions = {
  store: Pick<WaitingStore, 'take'>;
  rooms: ClaimedRooms;
  inHand: RowsInHand;
  /** Limit in hand: at it no more rows are taken. */
  limit: InHandLimit;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Older rows are over. */
  maxAgeMs: number;
  isPaused: () => boolean;
  onTaken: (rows: number) => void;
  onFailed: (error: unknown) => void;
};

/** At most 2,000 rows a second: a small part of what Postgres and the broker can do. */
const PAUSE_MS = 32;
const PAUSE_AFTER_FAILURE_MS = 1_000;

type Ending = RowsToEnd & { after?: RowKey; onEnded: (isDone: boolean) => void };

/** Takes rows that are to end, a few at a time. */
export class EndRows {
  readonly #options: EndRowsOptions;
  /** Rooms in which rows are being ended, as they are too old. */
  readonly #tooOld = new Set<RoomInHand>();
  #all: Ending[] = [];
  #isEnding = false;

  constructor(options: EndRowsOptions) {
    this.#options = options;
  }

  /** Resolves when all are taken, or with false if the room is lost before. The room is held until then. */
  end(toEnd: RowsToEnd): Promise<boolean> {
    const ended = Promise.withResolvers<boolean>();
    toEnd.own.holds += 1;
    const onEnded = (isDone: boolean) => {
      toEnd.own.holds -= 1;
      ended.resolve(isDone);
    };
    this.#all.push({ ...toEnd, onEnded });
    if (!this.#isEnding) void this.#end();
    return ended.promise;
  }

  /** Ends the rows of a room that are too old now. Resolves as `end` does; with false at once where that is under way. */
  async endTooOld(own: RoomInHand): Promise<boolean> {
    const { maxAgeMs, now } = this.#options;
    if (this.#tooOld.has(own)) return false;
    this.#tooOld.add(own);
    const isDone = await this.end({ own, madeBefore: now() - maxAgeMs });
    this.#tooOld.delete(own);
    return isDone;
  }

  close(): void {
    for (const { onEnded } of this.#all.splice(0)) onEnded(false);
  }

  async #end(): Promise<void> {
    const { clock, inHand, limit, isPaused, onFailed } = this.#options;
    this.#isEnding = true;
    // Each in turn: none waits for a million rows of one.
    for (let next = this.#all.shift(); next !== undefined; next = this.#all.shift()) {
      let pauseMs = PAUSE_MS;
      try {
        const isFull = inHand.count >= limit.messages || inHand.bytes >= limit.bytes;
        if (isPaused() || isFull || (await this.#endSome(next))) this.#all.push(next);
        else pauseMs = 0;
      } catch (error) {
        onFailed(error);
        this.#all.push(next);
        pauseMs = PAUSE_AFTER_FAILURE_MS;
      }
      if (pauseMs > 0) await clock.sleep(pauseMs);
    }
    this.#isEnding = false;
  }

  /** Whether there may be more. */
  async #endSome(ending: Ending): Promise<boolean> {
    const { store, rooms, inHand, isPaused, onTaken } = this.#options;
    const { own, after, madeBefore, subscriptions, isOverLimit = false } = ending;
    const { room } = own;
    const isOwn = () => rooms.get(room) === own;
    const wanted: RowsWanted = { room, limit: MOST_ROWS, madeBefore };
    if (after !== undefined) wanted.after = after;
    if (subscriptions !== undefined) wanted.subscriptions = subscriptions;
    const [taken] = isOwn() ? await inHand.reading(() => store.take([wanted])) : [];
    if (isPaused()) return true;
    if (taken === undefined || !isOwn() || taken.rows.length + taken.gone === 0) {
      ending.onEnded(isOwn());
      return false;
    }
    const fresh = taken.rows.filter((row) => !inHand.has(row));
    for (const row of fresh) inHand.take(row, { crashes: 0, isOverLimit });
    onTaken(fresh.length);
    const last = taken.rows.at(-1);
    if (last !== undefined) ending.after = last;
    return true;
  }
}
