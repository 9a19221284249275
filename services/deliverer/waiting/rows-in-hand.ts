import type { ConsumeCallbacks } from '@waybell/line/broker';
import { asWaited } from '@waybell/line/delivery';
import { CRASHES_OF_ROOM } from '@waybell/line/hand-over/suspicion';
import { newSourceId, type RowKey, type Source } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import {
  type TakenKey,
  type TakenRow,
  MOST_BYTES,
  MOST_ROWS,
  type RowsWanted,
  type WaitingStore,
} from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { ClaimedRooms, RoomInHand } from './claimed-rooms.ts';

/** A row that this process has taken, until it is deleted or given back. */
export type RowInHand = TakenKey & { bytes: number; source: Source };

type Passed = { gone: number; last: RowKey | undefined };

type RowsInHandOptions = {
  consuming: ConsumeCallbacks;
  /** Called with a row that is to be deleted: its effects are safe. */
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
    return this.#in(key.room).has(rowName(key));
  }

  of(room: string): Iterable<RowKey> {
    return this.#in(room).values();
  }

  add(row: TakenRow, how: { crashes: number; isOverLimit: boolean }): void {
    const { room, madeAt, id, no } = row;
    const source: Source = {
      id: newSourceId(),
      messages: [asWaited(row, how)],
      acknowledge: () => this.#options.onDone(inHand),
      giveBack: () => this.free(inHand),
    };
    const inHand: RowInHand = { room, madeAt, id, no, bytes: row.content.body.length, source };
    const rows = this.#rooms.get(room);
    if (rows === undefined) this.#rooms.set(room, new Map([[rowName(row), inHand]]));
    else rows.set(rowName(row), inHand);
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
        const isGone = (row: TakenRow) => isMoved(subscriptionName(row)) || freed.has(`${row.room} ${rowName(row)}`);
        const rows = each.rows.filter((row) => !isGone(row));
        return { ...each, rows, gone: each.rows.length - rows.length, last: each.rows.at(-1) };
      });
    } finally {
      this.#readers.delete(freed);
    }
  }

  /** Moves rows of a subscription out of a room: none of them comes in hand meanwhile. */
  async moving<T>(what: { room: string; subscription: string }, move: () => Promise<T>): Promise<T> {
    this.#moving.add(subscriptionName(what));
    try {
      return await move();
    } finally {
      this.#moving.delete(subscriptionName(what));
      for (const freed of this.#readers) freed.add(subscriptionName(what));
    }
  }

  /** Whether it is still in hand: it was not freed, nor its room lost. */
  isCurrent(row: RowInHand): boolean {
    return this.#rooms.get(row.room)?.get(rowName(row)) === row;
  }

  free(row: RowInHand): void {
    if (!this.isCurrent(row)) return;
    const rows = this.#rooms.get(row.room);
    rows?.delete(rowName(row));
    if (rows?.size === 0) this.#rooms.delete(row.room);
    this.count -= 1;
    this.bytes -= row.bytes;
    for (const freed of this.#readers) freed.add(`${row.room} ${rowName(row)}`);
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

const rowName = ({ madeAt, id }: RowKey): string => `${madeAt} ${id}`;
const subscriptionName = ({ room, subscription }: Pick<TakenRow, 'room' | 'subscription'>): string =>
  `${room} of ${subscription}`;

type RowReaderOptions = {
  store: Pick<WaitingStore, 'take'>;
  endpoints: Pick<Endpoints, 'demand'>;
  rooms: ClaimedRooms;
  inHand: RowsInHand;
  limit: InHandLimit;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Older deliveries are over. */
  maxAgeMs: number;
  isPaused: () => boolean;
  onTaken: (rows: number) => void;
  onFailed: (error: unknown) => void;
  /** Called with a room of which nothing is in hand and nothing can be taken now. `afterMs`: as in `Released`. */
  onIdle: (claimed: RoomInHand, afterMs?: number) => void;
  /** Called where the first row is too old. */
  onTooOld: (claimed: RoomInHand) => void;
};

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

/** Takes rows for endpoints with capacity, the oldest first, of many rooms by one statement. */
export class RowReader {
  readonly #options: RowReaderOptions;
  readonly #toCheck = new Set<RoomInHand>();
  #isReading = false;
  #checkIdleAt = -Infinity;

  constructor(options: RowReaderOptions) {
    this.#options = options;
  }

  /** There may be rows to take, or the room may be left. */
  check(claimed: RoomInHand): void {
    this.#toCheck.add(claimed);
    if (!this.#isReading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    const { store, inHand, clock, onFailed } = this.#options;
    this.#isReading = true;
    try {
      // All rooms that are checked at once are read together.
      await Promise.resolve();
      for (let reads = this.#planReads(); reads.length > 0; reads = this.#planReads()) {
        const beganAt = clock.now();
        const taken = await inHand.reading(() => store.take(reads.map(({ wanted }) => wanted)));
        for (const [place, read] of reads.entries()) this.#applyRead(read, taken[place], clock.now() - beganAt);
      }
    } catch (error) {
      onFailed(error);
    } finally {
      this.#isReading = false;
    }
  }

  #planReads(): PlannedRead[] {
    const { inHand, limit, clock } = this.#options;
    const reads: PlannedRead[] = [];
    let rows = limit.messages - inHand.count;
    // Each read may bring this many bytes; how many is only known afterwards.
    const most = Math.min(MOST_READS, Math.ceil((limit.bytes - inHand.bytes) / MOST_BYTES));
    // Each may be left, though no more may be in hand; not checked at each row that is freed, as they may be hundreds.
    const isIdleCheck = clock.now() >= this.#checkIdleAt;
    if (isIdleCheck) this.#checkIdleAt = clock.now() + IDLE_CHECK_MS;
    for (const claimed of this.#toCheck) {
      const mayTake = rows > 0 && reads.length < most;
      if (reads.length >= MOST_READS || (!mayTake && !isIdleCheck)) break;
      const read = this.#planRead(claimed, mayTake ? rows : 0);
      if (read === 'full') continue;
      if (read === undefined) this.#toCheck.delete(claimed);
      else {
        rows -= read.rows;
        reads.push(read);
      }
    }
    return reads;
  }

  /** Returns what to read of a room now; undefined: nothing; `full`: no more rows may be in hand. */
  #planRead(claimed: RoomInHand, most: number): PlannedRead | 'full' | undefined {
    const { rooms, inHand, clock } = this.#options;
    if (rooms.get(claimed.room) !== claimed || claimed.isLeaving) return undefined;
    const capacity = this.#capacityOf(claimed);
    if (capacity <= 0) return undefined;
    const isRestart = claimed.restartAt <= clock.now();
    if (claimed.isAtEnd && !isRestart) {
      this.#idle(claimed);
      return undefined;
    }
    const rows = Math.min(capacity, most);
    if (rows <= 0) return 'full';
    if (isRestart) claimed.after = undefined;
    // A read from the first row finds those in hand again.
    const limit = rows + (isRestart ? inHand.countOf(claimed.room) : 0);
    const wanted: RowsWanted = { room: claimed.room, limit };
    if (claimed.after !== undefined) wanted.after = claimed.after;
    return { claimed, rows, isRestart, wanted };
  }

  /** How many rows its endpoint takes now. Leaves a room that takes none, once none is in hand. */
  #capacityOf(claimed: RoomInHand): number {
    const { endpoints, inHand, clock, isPaused } = this.#options;
    const count = inHand.countOf(claimed.room);
    if (isPaused() || claimed.mustYield) {
      this.#idle(claimed);
      return 0;
    }
    const { rows, askAt, lacksSlot } = endpoints.demand({ account: claimed.account, endpoint: claimed.room });
    claimed.lackingSince = lacksSlot ? (claimed.lackingSince ?? clock.now()) : undefined;
    if (rows > 0) return isOneByOne(claimed) ? Number(count === 0) : Math.min(rows, MOST_ROWS, MOST_OF_ONE - count);
    const { lackingSince } = claimed;
    if (lackingSince === undefined)
      this.#idle(claimed, askAt === undefined ? undefined : Math.max(0, askAt - clock.now()));
    else if (clock.now() - lackingSince >= LACKING_MS) this.#idle(claimed, lackingPauseMs(claimed));
    return 0;
  }

  #idle(claimed: RoomInHand, afterMs?: number): void {
    if (claimed.workUnderWay === 0 && this.#options.inHand.countOf(claimed.room) === 0)
      this.#options.onIdle(claimed, afterMs);
  }

  #applyRead(
    { claimed, rows: most, isRestart, wanted }: PlannedRead,
    taken: ReadRows | undefined,
    tookMs: number,
  ): void {
    const { inHand, rooms, clock, now, maxAgeMs, isPaused, onTaken, onTooOld } = this.#options;
    const { rows = [], gone = 0, last, isCut = false } = taken ?? {};
    claimed.isAtEnd = rows.length + gone < wanted.limit && !isCut;
    // Behind the others, which may be more than one statement reads.
    this.#toCheck.delete(claimed);
    this.#toCheck.add(claimed);
    if (isRestart || claimed.isAtEnd) claimed.restartAt = clock.now() + Math.max(RESTART_MS, RESTART_TIMES * tookMs);
    if (isPaused() || rooms.get(claimed.room) !== claimed) return;
    if ((rows[0]?.madeAt ?? Infinity) < now() - maxAgeMs) onTooOld(claimed);
    const how = { crashes: claimed.crashes >= CRASHES_OF_ROOM ? claimed.crashes : 0, isOverLimit: false };
    let left = most;
    for (const row of rows) {
      const isInHand = inHand.has(row);
      if (left > 0 || isInHand) claimed.after = row;
      if (left === 0 || isInHand) continue;
      left -= 1;
      inHand.add(row, how);
    }
    // Otherwise rows that are being moved would be read again and again.
    if (left > 0 && gone > 0) claimed.after = last;
    onTaken(most - left);
  }
}

type PlannedRead = { claimed: RoomInHand; rows: number; isRestart: boolean; wanted: RowsWanted };
type ReadRows = Awaited<ReturnType<RowsInHand['reading']>>[number] & Awaited<ReturnType<WaitingStore['take']>>[number];

/** A room that may still be shut, or that may kill. */
function isOneByOne({ isUnprobed, crashes }: RoomInHand): boolean {
  return isUnprobed || crashes >= CRASHES_OF_ROOM;
}

/** Spread evenly, as rooms are named by a hash. */
function lackingPauseMs({ room }: RoomInHand): number {
  return LACKING_PAUSE_MS * (0.5 + Number.parseInt(room.slice(0, 4), 16) / 2 ** 16);
}
