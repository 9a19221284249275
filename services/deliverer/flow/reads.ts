import { CRASHES_OF_ROOM } from '@waybell/line/hand-over/suspicion';
import type { RowKey } from '@waybell/line/messages';
import {
  MOST_BYTES,
  MOST_ROWS,
  type RowsWanted,
  type TakenRow,
  type TakenRows,
} from '@waybell/line/waiting-room/waiting-store';
import type { Ending, RoomInHand, Rooms, RoomsOptions } from './rooms.ts';
import type { RowInHand } from './rows-in-hand.ts';

/** Rows in hand for one endpoint, at most: those under way, and as many that wait. */
const MOST_OF_ONE = 2 * MOST_ROWS;
/** Rooms that one statement reads. */
const MOST_READS = 32;
const IDLE_CHECK_MS = 1_000;
const RESTART_MS = 1_000;
/** Behind a long transaction a read from the first row passes many dead ones: a restart waits this many times as long as the last read took. */
const RESTART_TIMES = 20;
/** A room that lacks a slot for this long is left to a process that may have one. */
const LACKING_MS = 2_000;
const LACKING_PAUSE_MS = 1_000;
/** Rows end without an attempt at 2,000 a second at most: a small part of what Postgres and the broker can do. */
const END_PAUSE_MS = 32;
const END_PAUSE_AFTER_FAILURE_MS = 1_000;

export type PlannedRead = { wanted: RowsWanted; room: RoomInHand; rows: number; isRestart: boolean; ending?: Ending };

/** The rows that a read found and that are still there; `gone`: number of the rest; `last`: of all. */
type ReadRows = { rows: TakenRow[]; gone: number; last: RowKey | undefined; isCut: boolean; tookMs: number };

/**
 * What to read out of the claimed rooms: the oldest rows first, as many as each endpoint demands, of many rooms by one statement; and,
 * a few at a time, rows that end without an attempt, whatever their endpoint does. A state that builds on `Rooms`: `next` plans the
 * reads, `taken` applies their answer.
 */
export class Reads {
  readonly #options: RoomsOptions;
  readonly #rooms: Rooms;
  #checkIdleAt = -Infinity;
  #endAt = -Infinity;

  constructor(options: RoomsOptions, rooms: Rooms) {
    this.#options = options;
    this.#rooms = rooms;
  }

  /** When rows go on ending without another input. */
  get endAt(): number {
    const { isPaused, endings, inHand } = this.#rooms;
    return isPaused || endings.length === 0 || inHand.isFull ? Infinity : this.#endAt;
  }

  /** Returns what to read now, and leaves rooms that have nothing to do. */
  next(): PlannedRead[] {
    const { toCheck, inHand } = this.#rooms;
    const { limit } = inHand;
    const ending = this.#planEnding();
    const reads = ending === undefined ? [] : [ending];
    let rows = limit.messages - inHand.count - (ending?.rows ?? 0);
    // Each read may bring this many bytes; how many is only known afterwards.
    const most = Math.min(MOST_READS, Math.ceil((limit.bytes - inHand.bytes) / MOST_BYTES));
    // Each may be left, though no more may be in hand; not checked at each row that is freed, as they may be hundreds.
    const isIdleCheck = this.#now >= this.#checkIdleAt;
    if (isIdleCheck) this.#checkIdleAt = this.#now + IDLE_CHECK_MS;
    for (const room of toCheck) {
      const mayTake = rows > 0 && reads.length < most;
      if (reads.length >= MOST_READS || (!mayTake && !isIdleCheck)) break;
      const read = this.#plan(room, mayTake ? rows : 0);
      if (read === 'full') continue;
      if (read === undefined) toCheck.delete(room);
      else {
        rows -= read.rows;
        reads.push(read);
      }
    }
    if (reads.length > 0) inHand.beginRead();
    return reads;
  }

  /** Takes what the reads found in hand, and returns each row as soon as it is. */
  *taken(reads: readonly PlannedRead[], found: readonly TakenRows[], tookMs: number): Generator<RowInHand> {
    const { inHand } = this.#rooms;
    for (const [place, read] of reads.entries()) {
      const { rows: all = [], isCut = false } = found[place] ?? {};
      const rows = inHand.still({ rows: all });
      const answer = { rows, gone: all.length - rows.length, last: all.at(-1), isCut, tookMs };
      if (!this.#rooms.isOwn(read.room)) continue;
      if (read.ending === undefined) yield* this.#take(read, answer);
      else yield* this.#takeEnding(read.ending, answer);
    }
    inHand.endRead();
  }

  /** The store is away: a poll finds again what is to be read. */
  notTaken(reads: readonly PlannedRead[]): void {
    this.#rooms.inHand.endRead();
    for (const { ending, room } of reads) {
      if (ending === undefined || !this.#rooms.isOwn(room)) continue;
      this.#rooms.endings.push(ending);
      this.#endAt = this.#now + END_PAUSE_AFTER_FAILURE_MS;
    }
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Returns what to read of a room; undefined: nothing; `full`: no more rows may be in hand. */
  #plan(room: RoomInHand, most: number): PlannedRead | 'full' | undefined {
    if (!this.#rooms.isOwn(room) || room.leaving !== undefined) return undefined;
    const capacity = this.#capacityOf(room);
    if (capacity <= 0) return undefined;
    const isRestart = room.restartAt <= this.#now;
    if (room.isAtEnd && !isRestart) {
      this.#rooms.leaveIfIdle(room);
      return undefined;
    }
    const rows = Math.min(capacity, most);
    if (rows <= 0) return 'full';
    if (isRestart) room.after = undefined;
    // A read from the first row finds those in hand again.
    const limit = rows + (isRestart ? this.#rooms.inHand.of(room.room).size : 0);
    const { after } = room;
    return { wanted: { room: room.room, limit, ...(after !== undefined && { after }) }, room, rows, isRestart };
  }

  /** How many rows its endpoint takes now. Leaves a room that takes none, once none is in hand. */
  #capacityOf(room: RoomInHand): number {
    const [rooms, now] = [this.#rooms, this.#now];
    if (rooms.isPaused || room.mustYield) {
      rooms.leaveIfIdle(room);
      return 0;
    }
    const { rows, askAt, lacksSlot } = this.#options.endpoints.demand({ account: room.account, endpoint: room.room });
    room.lackingSince = lacksSlot ? (room.lackingSince ?? now) : undefined;
    const count = rooms.inHand.of(room.room).size;
    const isOneByOne = room.isUnprobed || room.crashes >= CRASHES_OF_ROOM;
    if (rows > 0) return isOneByOne ? Number(count === 0) : Math.min(rows, MOST_ROWS, MOST_OF_ONE - count);
    const { lackingSince } = room;
    if (lackingSince === undefined) rooms.leaveIfIdle(room, askAt && Math.max(0, askAt - now));
    else if (now - lackingSince >= LACKING_MS) rooms.leaveIfIdle(room, lackingPauseMs(room));
    return 0;
  }

  *#take({ room, rows: most, isRestart, wanted }: PlannedRead, found: ReadRows): Generator<RowInHand> {
    const { inHand, toCheck, isPaused } = this.#rooms;
    const { rows, gone, last, isCut, tookMs } = found;
    room.isAtEnd = rows.length + gone < wanted.limit && !isCut;
    // Behind the others, which may be more than one statement reads.
    toCheck.delete(room);
    toCheck.add(room);
    if (isRestart || room.isAtEnd) room.restartAt = this.#now + Math.max(RESTART_MS, RESTART_TIMES * tookMs);
    if (isPaused) return;
    const tooOldBefore = this.#options.now() - this.#options.maxAgeMs;
    if ((rows[0]?.madeAt ?? Infinity) < tooOldBefore) this.#rooms.endTooOld(room, tooOldBefore);
    const how = { crashes: room.crashes >= CRASHES_OF_ROOM ? room.crashes : 0, isOverLimit: false };
    let left = most;
    for (const row of rows) {
      const isInHand = inHand.has(row);
      if (left === 0 && !isInHand) {
        room.isAtEnd = false;
        break;
      }
      room.after = row;
      if (isInHand) continue;
      left -= 1;
      yield inHand.add(row, how);
      if (!this.#rooms.isOwn(room)) return;
    }
    // Otherwise rows that are being moved would be read again and again.
    if (left > 0 && gone > 0) room.after = last;
  }

  /** Each room in turn: none waits for a million rows of one. */
  #planEnding(): PlannedRead | undefined {
    const ending = this.endAt <= this.#now ? this.#rooms.endings.shift() : undefined;
    if (ending === undefined) return undefined;
    const { room, madeBefore, after, subscriptions } = ending;
    const wanted: RowsWanted = { room: room.room, limit: MOST_ROWS, madeBefore };
    if (after !== undefined) wanted.after = after;
    if (subscriptions !== undefined) wanted.subscriptions = subscriptions;
    return { wanted, room, rows: MOST_ROWS, isRestart: false, ending };
  }

  *#takeEnding(ending: Ending, { rows, gone }: ReadRows): Generator<RowInHand> {
    const { room, why } = ending;
    const { inHand, endings, isPaused } = this.#rooms;
    if (rows.length + gone === 0 && !isPaused) return this.#rooms.ended(ending);
    endings.push(ending);
    this.#endAt = this.#now + END_PAUSE_MS;
    if (isPaused) return;
    ending.after = rows.at(-1) ?? ending.after;
    for (const row of rows) {
      if (!inHand.has(row)) yield inHand.add(row, { crashes: 0, isOverLimit: why === 'over limit' });
      if (!this.#rooms.isOwn(room)) return;
    }
  }
}

/** Spread evenly, as rooms are named by a hash. */
function lackingPauseMs({ room }: RoomInHand): number {
  return LACKING_PAUSE_MS * (0.5 + Number.parseInt(room.slice(0, 4), 16) / 2 ** 16);
}
