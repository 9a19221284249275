import { CRASHES_OF_ROOM } from '@waybell/line/hand-over/suspicion';
import type { RowKey, Source } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import {
  CLAIM_MS,
  MOST_BYTES,
  MOST_ROWS,
  type Claim,
  type ClaimedRoom,
  type Released,
  type RowsWanted,
  type TakenKey,
  type TakenRow,
  type TakenRows,
} from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import type { Endpoints } from './endpoints.ts';

export type RoomsOptions = {
  endpoints: Endpoints;
  /** Limit of the rows in hand. */
  inHandLimit: InHandLimit;
  /** Older deliveries end without an attempt. */
  maxAgeMs: number;
  clock: Pick<Clock, 'now'>;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** Rooms that are claimed at once, at most. */
const MOST_ROOMS = 512;
/** Number of claims kept for rooms that are shut. */
const KEPT_FOR_SHUT = 64;
/** Rooms of one account among them, from which on no more of it are claimed. */
const MOST_OF_ACCOUNT = 64;
/** At the limit of claims, a room that has been claimed for this long is released, because others may be due. */
const YIELD_AFTER_MS = 10_000;
/** Rooms that yield to others at once, and those of one account among them. */
const MOST_YIELDING = { all: 64, ofAccount: 8 };
/** Open rooms claimed at once. */
const MOST_OPEN = 50;
/** While more rooms wait than were claimed at once, the next are claimed after this pause. */
const MORE_MS = 100;
/** Rows settled at once. */
const MOST_SETTLED = 500;
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

/** A row that this process has taken, until it is settled or given back. */
export type RowInHand = TakenKey & { bytes: number; row: TakenRow; how: { crashes: number; isOverLimit: boolean }; source?: Source };

/** Rows of a room that end without an attempt, whatever its endpoint does. The handler decides how each ends. */
type Ending = {
  room: Room;
  /** Milliseconds since the epoch. */
  madeBefore: number;
  /** Absent: of all. */
  subscriptions?: readonly string[];
  isOverLimit: boolean;
  isTooOld?: true;
  /** The row to read on after. */
  after?: RowKey | undefined;
};

/** What a scan deals with: changes up to this number, and the limit up to this time. */
type Seen = Pick<ClaimedRoom, 'changes' | 'overBefore'>;

/** A claimed room, and its use by this process. Times are those of this process's clock. */
export type Room = Omit<ClaimedRoom, 'shutForMs'> & {
  readonly account: string;
  readonly claimedAt: number;
  /** End of the claim. */
  until: number;
  /** A row was settled since the claim was renewed. */
  lives: boolean;
  /** Rows in hand. */
  readonly rows: Map<string, RowInHand>;
  /** The row to read on after. */
  after: RowKey | undefined;
  /** When to read from the first row again, at the earliest. */
  restartAt: number;
  /** No rows followed those taken last. */
  isAtEnd: boolean;
  /** Since when its endpoint lacks only a slot. */
  lackingSince: number | undefined;
  /** Its rows are looked through for those that are over or elsewhere by now, until that is noted. */
  scan: { isChanged: boolean; seen: Seen; isLookedThrough: boolean } | undefined;
  /** How many `Ending`s of it there are. It is not released meanwhile, nor while it is scanned. */
  endings: number;
  /** Whether it is to be left for other rooms: no more rows are taken from it. */
  mustYield: boolean;
  /** It is to be released: no more rows are taken from it. */
  leaving: Released | undefined;
};

/** What to ask the store for next. */
export type RoomsStep =
  | { kind: 'settle'; rows: readonly RowInHand[] }
  | { kind: 'release'; rooms: readonly Released[] }
  | { kind: 'note'; room: Room; seen: Seen }
  | { kind: 'claim'; claim: Claim };

export type PlannedRead = { wanted: RowsWanted; room: Room; rows: number; isRestart: boolean; ending?: Ending };

const KINDS = ['settle', 'release', 'named', 'look', 'note'] as const;

/**
 * The rooms that this process has claimed, their rows in hand, and what to ask the store for next: a state with inputs (`claimed`,
 * `renewed`, `taken`, …) and questions (`nextStep`, `nextReads`, `nextScan`). `Drain` asks the store and applies the answers; see the
 * picture in docs/decisions/0004-flow.md. A claim counts by this process's monotonic clock, from before it was asked for: a process
 * that stood still notices at once that its claims have ended.
 */
export class Rooms {
  /** Nothing is taken or claimed: the broker does not accept publications, or the step is paused. */
  isPaused = false;
  /** Rows in hand, and their bytes. */
  count = 0;
  bytes = 0;
  /** Rows whose claim has ended or was lost: another process may have them. To be carried out at once. */
  readonly cut: RowInHand[] = [];
  readonly #options: RoomsOptions;
  readonly #rooms = new Map<string, Room>();
  /** Rooms to claim by name as soon as possible. */
  readonly #wanted = new Set<string>();
  /** Rooms to read from or to leave. */
  readonly #toCheck = new Set<Room>();
  readonly #leaving = new Set<Room>();
  readonly #toScan = new Set<Room>();
  /** Rooms whose scan is to be noted. */
  readonly #toNote = new Set<Room>();
  #handled: RowInHand[] = [];
  #endings: Ending[] = [];
  #turn = 0;
  /** When to look for due rooms. */
  #lookAt = -Infinity;
  /** More shut rooms may be due than were claimed. */
  #areMoreShut = false;
  /** No claim ends before. */
  #firstEnd = Infinity;
  #checkIdleAt = -Infinity;
  #endAt = -Infinity;
  /** While rows are read: those freed meanwhile, and subscriptions whose rows were moved, which the read may still find. */
  #goneSince: Set<string> | undefined;
  /** Subscriptions whose rows are being moved out of a room. */
  readonly #moving = new Set<string>();

  constructor(options: RoomsOptions) {
    this.#options = options;
  }

  get(room: string): Room | undefined {
    return this.#rooms.get(room);
  }

  all(): Iterable<Room> {
    return this.#rooms.values();
  }

  figures(): { claimed: number; shut: number } {
    const shut = [...this.all()].filter(({ room }) => this.#isHung(room));
    return { claimed: this.#rooms.size, shut: shut.length };
  }

  /** When a claim may end, by the clock. */
  get claimsEndAt(): number {
    return this.#firstEnd;
  }

  /** When to look for due rooms. */
  get lookAt(): number {
    return this.isPaused ? Infinity : this.#lookAt;
  }

  /** When rows go on ending. */
  get endAt(): number {
    return this.isPaused || this.#endings.length === 0 || this.#isFull ? Infinity : this.#endAt;
  }

  // Inputs: what happens.

  /** Something may be due, or rooms are to be left to others. */
  poll(): void {
    this.#lookAt = -Infinity;
    this.#yieldOldest();
    this.checkAll();
  }

  /** May be read from, or may be left. */
  checkAll(): void {
    for (const room of this.all()) this.#toCheck.add(room);
  }

  /** An endpoint has capacity: its room is read, or claimed, due or not. */
  hasCapacity(endpoint: string): void {
    const room = this.#rooms.get(endpoint);
    if (room !== undefined && room.leaving === undefined) this.#toCheck.add(room);
    else this.#wanted.add(endpoint);
  }

  /** `askedAt`: from before the claim. Rooms claimed before that changed are among those found by a look. */
  claimed(found: readonly ClaimedRoom[], { claim, askedAt }: { claim: Claim; askedAt: number }): void {
    this.expire();
    const fresh: ClaimedRoom[] = [];
    for (const each of found) {
      if (!this.#update(each, askedAt)) fresh.push(each);
    }
    for (const each of fresh) this.#add(each, askedAt);
    if (claim.kind === 'named') for (const room of claim.rooms) this.#wanted.delete(room);
    else this.#looked(fresh, claim);
    this.#checkEnds();
    for (const { room } of found) this.#begin(room);
  }

  /** Returns the claims to renew; those that `found` has not are lost. */
  toRenew(): { room: string; lives: boolean; claim: Room }[] {
    const asked = [...this.all()].map((claim) => ({ room: claim.room, lives: claim.lives, claim }));
    for (const { claim } of asked) claim.lives = false;
    return asked;
  }

  renewed(asked: readonly { claim: Room }[], found: readonly ClaimedRoom[], askedAt: number): void {
    this.expire();
    const kept = new Set(found.filter((each) => this.#update(each, askedAt)).map(({ room }) => room));
    for (const { claim } of asked) if (!kept.has(claim.room) && claim.leaving === undefined) this.#lose(claim);
    for (const room of kept) this.#begin(room);
  }

  /** Also without an answer: another process may have claimed them by then. `isAway`: they are to be claimed again. */
  released(released: readonly Released[], { isAway }: { isAway: boolean }): void {
    for (const { room } of released) {
      const claim = this.#rooms.get(room);
      if (claim !== undefined) this.#remove(claim);
      if (isAway) this.#wanted.add(room);
    }
    this.#mayClaimMore();
  }

  /** Loses the rooms whose claim has ended. */
  expire(): void {
    if (this.#options.clock.now() >= this.#firstEnd) this.#checkEnds();
  }

  /** The effects of a row are safe: it is to be settled. */
  handled(row: RowInHand): void {
    this.#handled.push(row);
  }

  settled(rows: readonly RowInHand[]): void {
    for (const row of rows) {
      const room = this.#rooms.get(row.room);
      if (room !== undefined) Object.assign(room, { crashes: 0, lives: true });
      this.free(row);
    }
  }

  /** A row is no longer in hand. */
  free(row: RowInHand): void {
    if (!this.isCurrent(row)) return;
    const room = this.#rooms.get(row.room);
    room?.rows.delete(rowName(row));
    this.count -= 1;
    this.bytes -= row.bytes;
    this.#goneSince?.add(`${row.room} ${rowName(row)}`);
    if (room === undefined) return;
    this.#toCheck.add(room);
    this.#mayClaimMore();
  }

  /** Whether it is still in hand: it was not freed, nor its room lost. */
  isCurrent(row: RowInHand): boolean {
    return this.#rooms.get(row.room)?.rows.get(rowName(row)) === row;
  }

  /** Rows of a subscription are being moved out of a room: none of them comes in hand meanwhile. */
  moves(what: { room: string; subscription: string }): Disposable {
    const name = subscriptionName(what);
    this.#moving.add(name);
    return {
      [Symbol.dispose]: () => {
        this.#moving.delete(name);
        this.#goneSince?.add(name);
      },
    };
  }

  /** A row of a room has moved, or lost its target. */
  toScan(name: string): void {
    const room = this.#rooms.get(name);
    if (room !== undefined) this.#scan(room, true);
  }

  /** `over`: subscriptions whose rows end; absent where the scan failed: the next claims return a changed room again. */
  scanned(room: Room, over?: readonly string[]): void {
    const { scan } = room;
    if (scan === undefined || !this.#isOwn(room)) return;
    if (over === undefined) return this.#endScan(room);
    scan.isLookedThrough = true;
    this.#toCheck.add(room);
    const { overBefore } = scan.seen;
    if (overBefore !== undefined) this.#end({ room, madeBefore: overBefore, isOverLimit: true });
    const all = { room, madeBefore: Number.MAX_SAFE_INTEGER, isOverLimit: false };
    if (over.length > 0) this.#end({ ...all, subscriptions: over });
    if (room.endings === 0) this.#toNote.add(room);
  }

  /** `isAway`: the store does not know yet what a scan has dealt with. */
  noted(room: Room, { isAway }: { isAway: boolean }): void {
    this.#toNote.delete(room);
    if (!isAway) room.changes = 0;
    this.#endScan(room);
  }

  /** The store is away: a poll tries again. */
  failed(): void {
    this.#lookAt = Infinity;
  }

  /** Closing: leaves what has nothing in hand. */
  leaveAll(): void {
    this.#endings = [];
    for (const room of this.all()) if (room.rows.size === 0) this.#leave(room);
  }

  // Questions: what to do next.

  /** Returns what to ask the store for, each kind in turn; undefined if nothing is to be done. */
  nextStep(): RoomsStep | undefined {
    for (let tried = 0; tried < KINDS.length; tried += 1) {
      const kind = KINDS[this.#turn];
      this.#turn = (this.#turn + 1) % KINDS.length;
      const step = kind && this.#stepOf(kind);
      if (step !== undefined) return step;
    }
    return undefined;
  }

  #stepOf(kind: (typeof KINDS)[number]): RoomsStep | undefined {
    switch (kind) {
      case 'settle': {
        this.#handled = this.#handled.filter((row) => this.isCurrent(row));
        const rows = this.#handled.slice(0, MOST_SETTLED);
        return rows.length === 0 ? undefined : { kind, rows };
      }
      case 'release': {
        const rooms = [...this.#leaving].flatMap(({ leaving }) => leaving ?? []);
        return rooms.length === 0 ? undefined : { kind, rooms };
      }
      case 'note': {
        for (const room of this.#toNote) if (room.scan !== undefined) return { kind, room, seen: room.scan.seen };
        return undefined;
      }
      case 'named': {
        const rooms = this.#claimable();
        return rooms.length === 0 ? undefined : { kind: 'claim', claim: { kind, rooms } };
      }
      case 'look': {
        if (this.isPaused || this.#lookAt > this.#options.clock.now()) return undefined;
        this.#lookAt = Infinity;
        const exceptAccounts = this.#fullAccounts();
        return { kind: 'claim', claim: { kind: 'endpoints', ...this.#mostToClaim(), exceptAccounts } };
      }
    }
  }

  /** Returns a room whose rows are to be looked through. */
  nextScan(): Room | undefined {
    for (const room of this.#toScan) {
      const { changes, overBefore } = room;
      this.#toScan.delete(room);
      if (room.scan === undefined || !this.#isOwn(room)) continue;
      room.scan.seen = { changes, ...(overBefore !== undefined && { overBefore }) };
      return room;
    }
    return undefined;
  }

  /** Returns what to read now, the oldest rows first, of many rooms by one statement. */
  nextReads(): PlannedRead[] {
    const { inHandLimit: limit, clock } = this.#options;
    const ending = this.#planEnding();
    const reads = ending === undefined ? [] : [ending];
    let rows = limit.messages - this.count - (ending?.rows ?? 0);
    // Each read may bring this many bytes; how many is only known afterwards.
    const most = Math.min(MOST_READS, Math.ceil((limit.bytes - this.bytes) / MOST_BYTES));
    // Each may be left, though no more may be in hand; not checked at each row that is freed, as they may be hundreds.
    const isIdleCheck = clock.now() >= this.#checkIdleAt;
    if (isIdleCheck) this.#checkIdleAt = clock.now() + IDLE_CHECK_MS;
    for (const room of this.#toCheck) {
      const mayTake = rows > 0 && reads.length < most;
      if (reads.length >= MOST_READS || (!mayTake && !isIdleCheck)) break;
      const read = this.#planRead(room, mayTake ? rows : 0);
      if (read === 'full') continue;
      if (read === undefined) this.#toCheck.delete(room);
      else {
        rows -= read.rows;
        reads.push(read);
      }
    }
    if (reads.length > 0) this.#goneSince = new Set();
    return reads;
  }

  /** Takes what the reads found in hand, and returns each row as soon as it is. */
  *taken(reads: readonly PlannedRead[], found: readonly TakenRows[], tookMs: number): Generator<RowInHand> {
    const gone = this.#goneSince ?? new Set();
    for (const [place, read] of reads.entries()) {
      const { rows = [], isCut = false } = found[place] ?? {};
      const isMoved = (of: string) => this.#moving.has(of) || gone.has(of);
      const left = rows.filter(
        (row) => !isMoved(subscriptionName(row)) && !gone.has(`${row.room} ${rowName(row)}`),
      );
      const answer: ReadRows = { rows: left, gone: rows.length - left.length, last: rows.at(-1), isCut, tookMs };
      if (read.ending === undefined) yield* this.#take(read, answer);
      else yield* this.#takeEnding(read.ending, answer);
    }
    this.#goneSince = undefined;
  }

  /** The store is away: what is to be read is found again by a poll. */
  notTaken(reads: readonly PlannedRead[]): void {
    this.#goneSince = undefined;
    for (const { ending } of reads) if (ending !== undefined) this.#endings.push(ending);
    this.#endAt = this.#options.clock.now() + END_PAUSE_AFTER_FAILURE_MS;
  }

  #isOwn(room: Room): boolean {
    return this.#rooms.get(room.room) === room;
  }

  #isHung(room: string): boolean {
    return this.#options.endpoints.isHung(room);
  }

  get #isFull(): boolean {
    const { messages, bytes } = this.#options.inHandLimit;
    return this.count >= messages || this.bytes >= bytes;
  }

  // Claims.

  #update({ room, changes, overBefore, crashes }: ClaimedRoom, askedAt: number): boolean {
    const claim = this.#rooms.get(room);
    if (claim === undefined) return false;
    Object.assign(claim, { changes, overBefore, crashes, until: Math.max(claim.until, askedAt + CLAIM_MS) });
    return true;
  }

  #add({ account = '', shutForMs, ...found }: ClaimedRoom, askedAt: number): void {
    const until = askedAt + CLAIM_MS;
    this.#rooms.set(found.room, {
      ...found,
      account,
      claimedAt: askedAt,
      until,
      lives: false,
      rows: new Map(),
      after: undefined,
      restartAt: -Infinity,
      isAtEnd: false,
      lackingSince: undefined,
      scan: undefined,
      endings: 0,
      mustYield: false,
      leaving: undefined,
    });
    this.#firstEnd = Math.min(this.#firstEnd, until);
    const hungSince = shutForMs === undefined ? undefined : askedAt - shutForMs;
    this.#options.endpoints.claimed({ account, endpoint: found.room }, hungSince);
  }

  /** Reads it, once what must not be read is known. */
  #begin(name: string): void {
    const room = this.#rooms.get(name);
    if (room === undefined) return;
    if (room.changes > 0 || room.overBefore !== undefined) this.#scan(room, room.changes > 0);
    else this.#toCheck.add(room);
  }

  #checkEnds(): void {
    const now = this.#options.clock.now();
    this.#firstEnd = Infinity;
    for (const room of this.all()) {
      if (room.until <= now) this.#lose(room);
      else this.#firstEnd = Math.min(this.#firstEnd, room.until);
    }
  }

  /** Does nothing if it was claimed again since. */
  #lose(room: Room): void {
    if (!this.#isOwn(room)) return;
    for (const row of room.rows.values()) {
      this.free(row);
      this.cut.push(row);
    }
    this.#remove(room);
  }

  #remove(room: Room): void {
    this.#rooms.delete(room.room);
    for (const rooms of [this.#toCheck, this.#leaving, this.#toScan, this.#toNote]) rooms.delete(room);
    this.#endings = this.#endings.filter((ending) => ending.room !== room);
    this.#options.endpoints.unclaimed(room.room);
  }

  #idle(room: Room, afterMs?: number): void {
    if (room.scan === undefined && room.endings === 0 && room.rows.size === 0) this.#leave(room, afterMs);
  }

  #leave(room: Room, afterMs?: number): void {
    const { endpoints, clock } = this.#options;
    const since = endpoints.hungSince(room.room);
    room.leaving = {
      room: room.room,
      ...(afterMs !== undefined && { afterMs }),
      ...(since !== undefined && { shutForMs: clock.now() - since }),
    };
    this.#leaving.add(room);
  }

  /** Has those that were claimed first yield, some at a time, if no more may be claimed. */
  #yieldOldest(): void {
    const full = new Set(this.#fullAccounts());
    const isFull = this.#rooms.size >= MOST_ROOMS - KEPT_FOR_SHUT;
    if (!isFull && full.size === 0) return;
    const over = new Map<string, number>();
    let left = MOST_YIELDING.all;
    for (const room of this.all()) {
      if (left === 0 || room.claimedAt > this.#options.clock.now() - YIELD_AFTER_MS) return;
      const ofAccount = (over.get(room.account) ?? 0) + 1;
      const isAtWork = room.scan !== undefined || room.endings > 0;
      if (isAtWork || ofAccount > MOST_YIELDING.ofAccount || !(isFull || full.has(room.account))) continue;
      over.set(room.account, ofAccount);
      room.mustYield = true;
      left -= 1;
    }
  }

  /** Accounts of which no more rooms are to be claimed. */
  #fullAccounts(): string[] {
    const byAccount = Map.groupBy(this.all(), ({ account }) => account);
    return [...byAccount].filter(([, rooms]) => rooms.length >= MOST_OF_ACCOUNT).map(([account]) => account);
  }

  #claimable(): string[] {
    const left = this.isPaused ? 0 : MOST_ROOMS - this.#rooms.size;
    if (left <= 0) return [];
    for (const name of this.#wanted) {
      const room = this.#rooms.get(name);
      if (room !== undefined && room.leaving === undefined) this.#wanted.delete(name);
    }
    return [...this.#wanted].filter((name) => !this.#rooms.has(name)).slice(0, left);
  }

  /** How many due rooms may be claimed: open ones first, and of shut ones no more than may be probed. */
  #mostToClaim(): { open: number; shut: number } {
    const { endpoints, inHandLimit } = this.#options;
    const left = Math.max(0, MOST_ROOMS - this.#rooms.size);
    const empty = [...this.all()].filter(({ rows }) => rows.size === 0);
    // At the limit in hand, only a few rooms are claimed beside those that have rows in hand.
    const most = this.count < inHandLimit.messages ? MOST_OPEN : Math.max(0, MOST_OPEN - empty.length);
    const open = Math.min(most, Math.max(0, left - KEPT_FOR_SHUT));
    // A room that was claimed to be probed, and was not yet, will need a slot too.
    const toProbe = empty.filter(({ room }) => this.#isHung(room));
    return { open, shut: Math.min(left - open, Math.max(0, endpoints.probeSlots() - toProbe.length)) };
  }

  #looked(fresh: readonly ClaimedRoom[], { open, shut }: { open: number; shut: number }): void {
    const opened = fresh.filter(({ shutForMs }) => shutForMs === undefined);
    // It was open for its last process, or is new: this process may still count it as hung.
    for (const { room } of opened) this.#options.endpoints.probeSoon(room);
    if (shut > 0) this.#areMoreShut = fresh.length - opened.length >= shut;
    if (open > 0 && opened.length >= open) this.#lookSoon();
  }

  #mayClaimMore(): void {
    if (this.#areMoreShut) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#lookAt = Math.min(this.#lookAt, this.#options.clock.now() + MORE_MS);
  }

  // Rows.

  /** Returns what to read of a room now; undefined: nothing; `full`: no more rows may be in hand. */
  #planRead(room: Room, most: number): PlannedRead | 'full' | undefined {
    if (!this.#isOwn(room) || room.leaving !== undefined) return undefined;
    const capacity = this.#capacityOf(room);
    if (capacity <= 0) return undefined;
    const isRestart = room.restartAt <= this.#options.clock.now();
    if (room.isAtEnd && !isRestart) {
      this.#idle(room);
      return undefined;
    }
    const rows = Math.min(capacity, most);
    if (rows <= 0) return 'full';
    if (isRestart) room.after = undefined;
    // A read from the first row finds those in hand again.
    const limit = rows + (isRestart ? room.rows.size : 0);
    const { after } = room;
    return { wanted: { room: room.room, limit, ...(after !== undefined && { after }) }, room, rows, isRestart };
  }

  /** How many rows its endpoint takes now. Leaves a room that takes none, once none is in hand. */
  #capacityOf(room: Room): number {
    const { endpoints, clock } = this.#options;
    if (this.isPaused || room.mustYield) {
      this.#idle(room);
      return 0;
    }
    const { rows, askAt, lacksSlot } = endpoints.demand({ account: room.account, endpoint: room.room });
    room.lackingSince = lacksSlot ? (room.lackingSince ?? clock.now()) : undefined;
    const count = room.rows.size;
    // What may still hang, or may kill, goes one by one.
    const isOneByOne = this.#isHung(room.room) || room.crashes >= CRASHES_OF_ROOM;
    if (rows > 0) return isOneByOne ? Number(count === 0) : Math.min(rows, MOST_ROWS, MOST_OF_ONE - count);
    const { lackingSince } = room;
    if (lackingSince === undefined)
      this.#idle(room, askAt === undefined ? undefined : Math.max(0, askAt - clock.now()));
    else if (clock.now() - lackingSince >= LACKING_MS) this.#idle(room, lackingPauseMs(room));
    return 0;
  }

  *#take({ room, rows: most, isRestart, wanted }: PlannedRead, answer: ReadRows): Generator<RowInHand> {
    const { clock, now, maxAgeMs } = this.#options;
    const { rows, gone, last, isCut, tookMs } = answer;
    if (!this.#isOwn(room)) return;
    room.isAtEnd = rows.length + gone < wanted.limit && !isCut;
    // Behind the others, which may be more than one statement reads.
    this.#toCheck.delete(room);
    this.#toCheck.add(room);
    if (isRestart || room.isAtEnd) room.restartAt = clock.now() + Math.max(RESTART_MS, RESTART_TIMES * tookMs);
    if (this.isPaused) return;
    if ((rows[0]?.madeAt ?? Infinity) < now() - maxAgeMs) this.#endTooOld(room);
    const how = { crashes: room.crashes >= CRASHES_OF_ROOM ? room.crashes : 0, isOverLimit: false };
    let left = most;
    for (const row of rows) {
      const isInHand = room.rows.has(rowName(row));
      if (left > 0 || isInHand) room.after = row;
      if (left === 0 || isInHand) continue;
      left -= 1;
      yield this.#takeInHand(room, row, how);
      if (!this.#isOwn(room)) return;
    }
    // Otherwise rows that are being moved would be read again and again.
    if (left > 0 && gone > 0) room.after = last;
  }

  #takeInHand(room: Room, row: TakenRow, how: RowInHand['how']): RowInHand {
    const { madeAt, id, no } = row;
    const inHand = { room: room.room, madeAt, id, no, bytes: row.content.body.length, row, how };
    room.rows.set(rowName(row), inHand);
    this.count += 1;
    this.bytes += inHand.bytes;
    return inHand;
  }

  // Rows that end.

  #scan(room: Room, isChanged: boolean): void {
    if (room.scan !== undefined || room.leaving !== undefined) return;
    room.scan = { isChanged, seen: { changes: room.changes }, isLookedThrough: false };
    this.#toScan.add(room);
  }

  #endScan(room: Room): void {
    room.scan = undefined;
    if (this.#isOwn(room)) this.#toCheck.add(room);
  }

  #end(ending: Ending): void {
    ending.room.endings += 1;
    this.#endings.push(ending);
  }

  #endTooOld(room: Room): void {
    const isEnding = this.#endings.some((ending) => ending.room === room && ending.isTooOld);
    const madeBefore = this.#options.now() - this.#options.maxAgeMs;
    if (!isEnding) this.#end({ room, madeBefore, isOverLimit: false, isTooOld: true });
  }

  /** Each in turn: none waits for a million rows of one. */
  #planEnding(): PlannedRead | undefined {
    const ending = this.endAt <= this.#options.clock.now() ? this.#endings.shift() : undefined;
    if (ending === undefined) return undefined;
    const { room, madeBefore, after, subscriptions } = ending;
    const wanted: RowsWanted = { room: room.room, limit: MOST_ROWS, madeBefore };
    if (after !== undefined) wanted.after = after;
    if (subscriptions !== undefined) wanted.subscriptions = subscriptions;
    return { wanted, room, rows: MOST_ROWS, isRestart: false, ending };
  }

  *#takeEnding(ending: Ending, { rows, gone }: ReadRows): Generator<RowInHand> {
    const { room, isOverLimit } = ending;
    if (!this.#isOwn(room)) return;
    if (rows.length + gone === 0 && !this.isPaused) return this.#ended(room);
    this.#endings.push(ending);
    this.#endAt = this.#options.clock.now() + END_PAUSE_MS;
    if (this.isPaused) return;
    ending.after = rows.at(-1) ?? ending.after;
    for (const row of rows) {
      if (!room.rows.has(rowName(row))) yield this.#takeInHand(room, row, { crashes: 0, isOverLimit });
      if (!this.#isOwn(room)) return;
    }
  }

  #ended(room: Room): void {
    room.endings -= 1;
    this.#toCheck.add(room);
    if (room.scan?.isLookedThrough && room.endings === 0) this.#toNote.add(room);
  }
}

type ReadRows = { rows: TakenRow[]; gone: number; last: RowKey | undefined; isCut: boolean; tookMs: number };

const rowName = ({ madeAt, id }: RowKey): string => `${madeAt} ${id}`;
const subscriptionName = ({ room, subscription }: Pick<TakenRow, 'room' | 'subscription'>): string =>
  `${room} of ${subscription}`;

/** Spread evenly, as rooms are named by a hash. */
function lackingPauseMs({ room }: Room): number {
  return LACKING_PAUSE_MS * (0.5 + Number.parseInt(room.slice(0, 4), 16) / 2 ** 16);
}
