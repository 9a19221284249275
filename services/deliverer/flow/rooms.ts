import type { RowKey } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { CLAIM_MS, type Claim, type ClaimedRoom, type Released } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import type { Endpoints } from './endpoints.ts';
import { RowsInHand, type RowInHand } from './rows-in-hand.ts';

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
const LOOK_MS = 1_000;
/** Rows settled at once. */
const MOST_SETTLED = 500;

/** Rows of a room that end without an attempt. The handler decides how each ends. */
export type Ending = {
  room: RoomInHand;
  why: 'over limit' | 'of subscriptions' | 'too old';
  /** Milliseconds since the epoch. */
  madeBefore: number;
  /** Absent: of all. */
  subscriptions?: readonly string[];
  /** The row to read on after. */
  after?: RowKey | undefined;
};

/** A scan deals with changes up to this number, and the limit up to this time. */
type ScannedUpTo = Pick<ClaimedRoom, 'changes' | 'overBefore'>;

/** A claimed room, and its use by this process. Times are those of this process's clock. */
export type RoomInHand = Omit<ClaimedRoom, 'shutForMs'> & {
  readonly account: string;
  readonly claimedAt: number;
  /** End of the claim. */
  until: number;
  /** A row was settled since the claim was renewed. */
  lives: boolean;
  /** It was shut when it was claimed, and no row was settled since: rows go one by one. */
  isUnprobed: boolean;
  /** The row to read on after. */
  after?: RowKey | undefined;
  /** When to read from the first row again, at the earliest. */
  restartAt: number;
  /** No rows followed those taken last. */
  isAtEnd: boolean;
  /** Since when its endpoint lacks only a slot. */
  lackingSince?: number | undefined;
  /** Its rows are looked through for those that are over or elsewhere by now, until that is noted. */
  scan?: { isChanged: boolean; seen: ScannedUpTo; isLookedThrough: boolean } | undefined;
  /** How many `Ending`s of it there are. It is not released meanwhile, nor while it is scanned. */
  endings: number;
  /** Whether it is to be left for other rooms: no more rows are taken from it. */
  mustYield: boolean;
  /** It is to be released: no more rows are taken from it. */
  leaving?: Released;
};

/** A statement to ask the store for. */
export type RoomsStep =
  | { kind: 'settle'; rows: readonly RowInHand[] }
  | { kind: 'release'; rooms: readonly Released[] }
  | { kind: 'note'; room: RoomInHand; seen: ScannedUpTo }
  | { kind: 'claim'; claim: Claim };

const KINDS = ['settle', 'release', 'named', 'look', 'note'] as const;

/**
 * The rooms that this process has claimed: a state with inputs (what happens, and what the store answers) and questions (`nextStep`,
 * `nextScan`; `Reads` has those of rows). `Drain` asks the store; see the picture in docs/decisions/0004-flow.md. A claim counts by
 * this process's monotonic clock, from before it was asked for: a process that stood still notices at once that its claims have ended.
 */
export class Rooms {
  /** Nothing is taken or claimed: the broker does not accept publications, or the step is paused. */
  isPaused = false;
  readonly inHand: RowsInHand;
  /** Rows whose claim has ended or was lost: another process may have them. To be carried out at once. */
  readonly cut: RowInHand[] = [];
  /** Rooms to read from or to leave. */
  readonly toCheck = new Set<RoomInHand>();
  /** Rooms whose rows are to be looked through. */
  readonly toScan = new Set<RoomInHand>();
  /** Rows to end, one room after the other. */
  endings: Ending[] = [];
  readonly #options: RoomsOptions;
  readonly #rooms = new Map<string, RoomInHand>();
  /** Rooms to claim by name as soon as possible. */
  readonly #wanted = new Set<string>();
  readonly #leaving = new Set<RoomInHand>();
  /** Rooms whose scan is to be noted. */
  readonly #toNote = new Set<RoomInHand>();
  #handled: RowInHand[] = [];
  #turn = 0;
  #lookAt = -Infinity;
  /** Infinity while the answer is awaited. */
  #lookedAt = -Infinity;
  /** More shut rooms may be due than were claimed. */
  #areMoreShut = false;
  /** No claim ends before. */
  #firstEnd = Infinity;

  constructor(options: RoomsOptions) {
    this.#options = options;
    this.inHand = new RowsInHand(options.inHandLimit);
  }

  get(room: string): RoomInHand | undefined {
    return this.#rooms.get(room);
  }

  all(): Iterable<RoomInHand> {
    return this.#rooms.values();
  }

  /** Whether it is still claimed, since then. */
  isOwn(room: RoomInHand): boolean {
    return this.#rooms.get(room.room) === room;
  }

  figures(): { claimed: number; shut: number } {
    const shut = [...this.all()].filter((room) => this.#isHung(room));
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

  /** Something may be due, or rooms are to be left to others. `isTimed`: looks a while after the last look was answered, not at once. */
  poll({ isTimed }: { isTimed: boolean }): void {
    this.#lookAt = isTimed ? Math.min(this.#lookAt, this.#lookedAt + LOOK_MS) : -Infinity;
    for (const room of toYield([...this.all()], this.#now)) room.mustYield = true;
    this.checkAll();
  }

  checkAll(): void {
    for (const room of this.all()) this.toCheck.add(room);
  }

  /** An endpoint has capacity: its room is read, or claimed, due or not. */
  hasCapacity(endpoint: string): void {
    const room = this.#rooms.get(endpoint);
    if (room !== undefined && room.leaving === undefined) this.toCheck.add(room);
    else this.#wanted.add(endpoint);
  }

  /** `askedAt`: from before the claim. Rooms claimed before that changed are among those found by a look. */
  claimed(found: readonly ClaimedRoom[], { claim, askedAt }: { claim: Claim; askedAt: number }): void {
    this.expire();
    const fresh = found.filter((each) => !this.#update(each, askedAt));
    for (const each of fresh) this.#add(each, askedAt);
    if (claim.kind === 'named') for (const room of claim.rooms) this.#wanted.delete(room);
    else this.#looked(fresh, claim);
    this.#checkEnds();
    for (const { room } of found) this.#begin(room);
  }

  /** Returns the claims to renew. */
  toRenew(): { room: string; lives: boolean; claim: RoomInHand }[] {
    const asked = [...this.all()].map((claim) => ({ room: claim.room, lives: claim.lives, claim }));
    for (const { claim } of asked) claim.lives = false;
    return asked;
  }

  /** Loses those that were not found. */
  renewed(asked: readonly { claim: RoomInHand }[], found: readonly ClaimedRoom[], askedAt: number): void {
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
    if (this.#areMoreShut) this.#lookSoon();
  }

  /** Loses the rooms whose claim has ended. */
  expire(): void {
    if (this.#now >= this.#firstEnd) this.#checkEnds();
  }

  /** The effects of a row are safe: it is to be settled. */
  handled(row: RowInHand): void {
    this.#handled.push(row);
  }

  settled(rows: readonly RowInHand[]): void {
    for (const row of rows) {
      const room = this.#rooms.get(row.room);
      if (room !== undefined) Object.assign(room, { isUnprobed: false, crashes: 0, lives: true });
      this.free(row);
    }
  }

  /** A row is no longer in hand. */
  free(row: RowInHand): void {
    const room = this.#rooms.get(row.room);
    if (!this.inHand.free(row) || room === undefined) return;
    this.toCheck.add(room);
    if (this.#areMoreShut) this.#lookSoon();
  }

  /** A row of a room was found to have moved, or to have lost its target. */
  rowsMoved(name: string): void {
    const room = this.#rooms.get(name);
    if (room !== undefined) this.#scan(room, true);
  }

  /** `over`: subscriptions whose rows end; absent where the scan failed: the next claims return a changed room again. */
  scanned(room: RoomInHand, over?: readonly string[]): void {
    const { scan } = room;
    if (scan === undefined || !this.isOwn(room)) return;
    if (over === undefined) return this.#endScan(room);
    scan.isLookedThrough = true;
    this.toCheck.add(room);
    const everMade = Number.MAX_SAFE_INTEGER;
    if (over.length > 0) this.#end({ room, why: 'of subscriptions', madeBefore: everMade, subscriptions: over });
    if (room.endings === 0) this.#toNote.add(room);
  }

  /** `isAway`: the store does not know yet what a scan has dealt with. */
  noted(room: RoomInHand, { isAway }: { isAway: boolean }): void {
    this.#toNote.delete(room);
    if (!isAway) room.changes = 0;
    this.#endScan(room);
  }

  endTooOld(room: RoomInHand, madeBefore: number): void {
    const isEnding = this.endings.some((each) => each.room === room && each.why === 'too old');
    if (!isEnding) this.#end({ room, why: 'too old', madeBefore });
  }

  /** There are no more such rows. */
  ended({ room }: Ending): void {
    room.endings -= 1;
    this.toCheck.add(room);
    if (room.scan?.isLookedThrough && room.endings === 0) this.#toNote.add(room);
  }

  /** Leaves a room with nothing under way. `afterMs`: as in `Released`. */
  leaveIfIdle(room: RoomInHand, afterMs?: number): void {
    if (room.scan !== undefined || room.endings > 0 || this.inHand.of(room.room).size > 0) return;
    room.leaving = { room: room.room, ...(afterMs !== undefined && { afterMs }) };
    this.#leaving.add(room);
  }

  /** The store is away: the next poll looks again. */
  failed(): void {
    [this.#lookAt, this.#lookedAt] = [Infinity, -Infinity];
  }

  /** Closing: leaves what has nothing in hand, whatever is to end. */
  leaveAll(): void {
    this.endings = [];
    for (const room of this.all()) this.leaveIfIdle(Object.assign(room, { scan: undefined, endings: 0 }));
  }

  /** Returns what to ask the store for now, each kind in turn. */
  nextStep(): RoomsStep | undefined {
    for (let tried = 0; tried < KINDS.length; tried += 1) {
      const kind = KINDS[this.#turn];
      this.#turn = (this.#turn + 1) % KINDS.length;
      const step = kind && this.#stepOf(kind);
      if (step !== undefined) return step;
    }
    return undefined;
  }

  /** Returns a room whose rows are to be looked through. */
  nextScan(): RoomInHand | undefined {
    for (const room of this.toScan) {
      const { changes, overBefore, scan } = room;
      this.toScan.delete(room);
      if (scan === undefined) continue;
      scan.seen = { changes, ...(overBefore !== undefined && { overBefore }) };
      scan.isChanged ||= changes > 0;
      if (overBefore !== undefined) this.#end({ room, why: 'over limit', madeBefore: overBefore });
      return room;
    }
    return undefined;
  }

  #stepOf(kind: (typeof KINDS)[number]): RoomsStep | undefined {
    switch (kind) {
      case 'settle': {
        this.#handled = this.#handled.filter((row) => this.inHand.isCurrent(row));
        const rows = this.#handled.slice(0, MOST_SETTLED);
        return rows.length === 0 ? undefined : { kind, rows };
      }
      case 'release': {
        const rooms = [...this.#leaving].flatMap(({ leaving }) => leaving ?? []).map((each) => this.#asShut(each));
        return rooms.length === 0 ? undefined : { kind, rooms };
      }
      case 'named': {
        const rooms = this.#claimable();
        return rooms.length === 0 ? undefined : { kind: 'claim', claim: { kind, rooms } };
      }
      case 'look': {
        if (this.lookAt > this.#now) return undefined;
        [this.#lookAt, this.#lookedAt] = [Infinity, Infinity];
        const exceptAccounts = fullAccounts(this.all());
        return { kind: 'claim', claim: { kind: 'endpoints', ...this.#mostToClaim(), exceptAccounts } };
      }
      case 'note': {
        for (const room of this.#toNote) if (room.scan !== undefined) return { kind, room, seen: room.scan.seen };
        return undefined;
      }
    }
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  #isHung({ room }: RoomInHand): boolean {
    return this.#options.endpoints.isHung(room);
  }

  #asShut(released: Released): Released {
    const since = this.#options.endpoints.hungSince(released.room);
    return since === undefined ? released : { ...released, shutForMs: this.#now - since };
  }

  #update({ room, changes, overBefore, crashes }: ClaimedRoom, askedAt: number): boolean {
    const claim = this.#rooms.get(room);
    if (claim === undefined) return false;
    Object.assign(claim, { changes, overBefore, crashes, until: Math.max(claim.until, askedAt + CLAIM_MS) });
    return true;
  }

  #add({ account = '', shutForMs, ...found }: ClaimedRoom, askedAt: number): void {
    const use = { lives: false, restartAt: -Infinity, isAtEnd: false, endings: 0, mustYield: false };
    const isUnprobed = shutForMs !== undefined;
    const claim = { ...found, account, claimedAt: askedAt, until: askedAt + CLAIM_MS, isUnprobed, ...use };
    this.#rooms.set(found.room, claim);
    const hungSince = shutForMs === undefined ? undefined : askedAt - shutForMs;
    this.#options.endpoints.claimed({ account, endpoint: found.room }, hungSince);
  }

  /** Reads it, or scans it first. */
  #begin(name: string): void {
    const room = this.#rooms.get(name);
    if (room === undefined) return;
    if (room.changes > 0 || room.overBefore !== undefined) this.#scan(room, room.changes > 0);
    else this.toCheck.add(room);
  }

  #checkEnds(): void {
    this.#firstEnd = Infinity;
    for (const room of this.all()) {
      if (room.until <= this.#now) this.#lose(room);
      else this.#firstEnd = Math.min(this.#firstEnd, room.until);
    }
  }

  /** Does nothing if it was claimed again since. */
  #lose(room: RoomInHand): void {
    if (!this.isOwn(room)) return;
    const rows = [...this.inHand.of(room.room).values()];
    for (const row of rows) this.inHand.free(row);
    this.cut.push(...rows);
    this.#remove(room);
  }

  #remove(room: RoomInHand): void {
    this.#rooms.delete(room.room);
    for (const rooms of [this.toCheck, this.#leaving, this.toScan, this.#toNote]) rooms.delete(room);
    this.endings = this.endings.filter((ending) => ending.room !== room);
    this.#options.endpoints.unclaimed(room.room);
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
    const left = Math.max(0, MOST_ROOMS - this.#rooms.size);
    const empty = [...this.all()].filter(({ room }) => this.inHand.of(room).size === 0);
    // At the limit in hand, only a few rooms are claimed beside those that have rows in hand.
    const isRoomy = this.inHand.count < this.inHand.limit.messages;
    const most = isRoomy ? MOST_OPEN : Math.max(0, MOST_OPEN - empty.length);
    const open = Math.min(most, Math.max(0, left - KEPT_FOR_SHUT));
    // A room that was claimed to be probed, and was not yet, will need a slot too.
    const toProbe = empty.filter((room) => this.#isHung(room));
    const probes = this.#options.endpoints.probeSlots() - toProbe.length;
    return { open, shut: Math.min(left - open, Math.max(0, probes)) };
  }

  #looked(fresh: readonly ClaimedRoom[], { open, shut }: { open: number; shut: number }): void {
    this.#lookedAt = this.#now;
    const opened = fresh.filter(({ shutForMs }) => shutForMs === undefined);
    // It was open for its last process, or is new: this process may still count it as hung.
    for (const { room } of opened) this.#options.endpoints.probeSoon(room);
    if (shut > 0) this.#areMoreShut = fresh.length - opened.length >= shut;
    if (open > 0 && opened.length >= open) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#lookAt = Math.min(this.#lookAt, this.#now + MORE_MS);
  }

  #scan(room: RoomInHand, isChanged: boolean): void {
    if (room.scan !== undefined || room.leaving !== undefined) return;
    room.scan = { isChanged, seen: { changes: room.changes }, isLookedThrough: false };
    this.toScan.add(room);
  }

  #endScan(room: RoomInHand): void {
    room.scan = undefined;
    if (this.isOwn(room)) this.toCheck.add(room);
  }

  #end(ending: Ending): void {
    ending.room.endings += 1;
    this.endings.push(ending);
  }
}

/** Accounts of which no more rooms are to be claimed. */
function fullAccounts(rooms: Iterable<RoomInHand>): string[] {
  const byAccount = Map.groupBy(rooms, ({ account }) => account);
  return [...byAccount].filter(([, each]) => each.length >= MOST_OF_ACCOUNT).map(([account]) => account);
}

/** Rooms that yield, those that were claimed first, some at a time, if no more may be claimed. */
function toYield(rooms: readonly RoomInHand[], now: number): RoomInHand[] {
  const full = new Set(fullAccounts(rooms));
  const isFull = rooms.length >= MOST_ROOMS - KEPT_FOR_SHUT;
  const old = rooms.filter((room) => room.claimedAt <= now - YIELD_AFTER_MS && (isFull || full.has(room.account)));
  const idle = old.filter(({ scan, endings }) => scan === undefined && endings === 0);
  const ofAccounts = new Map<string, number>();
  const isWithin = ({ account }: RoomInHand) => {
    const count = (ofAccounts.get(account) ?? 0) + 1;
    ofAccounts.set(account, count);
    return count <= MOST_YIELDING.ofAccount;
  };
  return idle.filter(isWithin).slice(0, MOST_YIELDING.all);
}
