import { isNoResult, type RowKey } from '@waybell/line/messages';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { type WaitingStore, MOST_ROWS, type RowsWanted } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import { dropReason, holdOf } from '../deliver.ts';
import { roomOf } from '../endpoints/endpoint.ts';
import type { DeliveryTarget, FindTargets } from '../find-target.ts';
import type { RoomInHand, ClaimedRooms } from './claimed-rooms.ts';
import type { RowsInHand } from './rows-in-hand.ts';

type RoomScanOptions = {
  store: Pick<WaitingStore, 'subscriptionsIn' | 'move' | 'noteScanned'>;
  findTargets: FindTargets;
  inHand: RowsInHand;
  ends: EndRows;
  /** A held row is due, at the latest, at this age. */
  maxAgeMs: number;
  now: () => number;
  /** Called for an endpoint that may take something now. */
  onChanged: (endpoint: string) => void;
  onScanned: (claimed: RoomInHand) => void;
  onFailed: (error: unknown) => void;
};

const MOST_LOOKED_UP = 1_000;

/**
 * Scans a room once whose subscriptions changed, or whose account exceeds a limit: ends deliveries that are over, moves those
 * with another endpoint to its room, and held ones to a room of their own, or back.
 */
export class RoomScan {
  readonly #options: RoomScanOptions;
  /** Whether to read the subscriptions in the room, though none is known to have changed. */
  readonly #requested = new Map<RoomInHand, boolean>();
  #isScanning = false;

  constructor(options: RoomScanOptions) {
    this.#options = options;
  }

  request(claimed: RoomInHand, isChanged = claimed.changes > 0): void {
    if (claimed.isBeingScanned || claimed.isLeaving) return;
    claimed.isBeingScanned = true;
    claimed.workUnderWay += 1;
    this.#requested.set(claimed, isChanged);
    if (!this.#isScanning) void this.#scanAll();
  }

  /** One room after another: a scan is short, and its rows are ended while the next room is scanned. */
  async #scanAll(): Promise<void> {
    this.#isScanning = true;
    for (const [claimed, isChanged] of this.#requested) {
      this.#requested.delete(claimed);
      const { changes, overBefore } = claimed;
      const seen = { changes, ...(overBefore !== undefined && { overBefore }) };
      try {
        void this.#finish(claimed, seen, await this.#scan(claimed, isChanged));
      } catch (error) {
        this.#fail(claimed, error);
      }
    }
    this.#isScanning = false;
  }

  /** Resolves with the promise of the rows being ended. */
  async #scan(claimed: RoomInHand, isChanged: boolean): Promise<Promise<boolean>[]> {
    const { store, findTargets, ends } = this.#options;
    const { room, overBefore } = claimed;
    const ending = overBefore === undefined ? [] : [ends.end({ claimed, madeBefore: overBefore, isOverLimit: true })];
    if (!isChanged) return ending;
    const subscriptions = await store.subscriptionsIn(room);
    const over: string[] = [];
    for (let first = 0; first < subscriptions.length; first += MOST_LOOKED_UP) {
      const some = subscriptions.slice(first, first + MOST_LOOKED_UP);
      const targets = await findTargets(some);
      for (const [place, subscription] of some.entries()) {
        const target = targets[place];
        if (isNoResult(target)) {
          if (target.kind === 'away') throw target.error;
          // The handler of its deliveries reports a subscription that cannot be read.
          continue;
        }
        if (target === undefined || dropReason(target) !== undefined) over.push(subscription);
        else await this.#follow(claimed, subscription, target);
      }
    }
    if (over.length === 0) return ending;
    return [...ending, ends.end({ claimed, madeBefore: Number.MAX_SAFE_INTEGER, subscriptions: over })];
  }

  /** Moves rows with another endpoint, except those in hand. Held rows that stay may get another due time. */
  async #follow({ room }: RoomInHand, subscription: string, target: DeliveryTarget): Promise<void> {
    const { store, inHand, maxAgeMs, now, onChanged } = this.#options;
    const hold = holdOf(target, now());
    const { room: to, account } = roomOf(target, { subscription, hold });
    onChanged(to);
    if (to === room && hold === undefined) return;
    const held = hold && { ...hold, maxAgeMs };
    for (let moved = 1; moved > 0;) {
      const except = [...inHand.of(room)];
      moved = await inHand.moving({ room, subscription }, () =>
        store.move({ from: room, subscription, to, account, except, held }),
      );
    }
  }

  async #finish(
    claimed: RoomInHand,
    seen: Pick<RoomInHand, 'changes' | 'overBefore'>,
    ending: readonly Promise<boolean>[],
  ): Promise<void> {
    try {
      const areDone = await Promise.all(ending);
      if (areDone.every(Boolean)) await this.#options.store.noteScanned(claimed.room, seen);
      claimed.changes = 0;
      this.#end(claimed);
    } catch (error) {
      this.#fail(claimed, error);
    }
  }

  /** The next claims return a changed room again. */
  #fail(claimed: RoomInHand, error: unknown): void {
    this.#options.onFailed(error);
    this.#end(claimed);
  }

  #end(claimed: RoomInHand): void {
    claimed.isBeingScanned = false;
    claimed.workUnderWay -= 1;
    this.#options.onScanned(claimed);
  }
}

/** Rows that end without an attempt, whatever their endpoint does. The handler decides how each ends. */
type RowsToEnd = {
  claimed: RoomInHand;
  /** Milliseconds since the epoch. */
  madeBefore: number;
  /** Absent: of all. */
  subscriptions?: readonly string[];
  isOverLimit?: boolean;
};

type EndRowsOptions = {
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
    toEnd.claimed.workUnderWay += 1;
    const onEnded = (isDone: boolean) => {
      toEnd.claimed.workUnderWay -= 1;
      ended.resolve(isDone);
    };
    this.#all.push({ ...toEnd, onEnded });
    if (!this.#isEnding) void this.#end();
    return ended.promise;
  }

  /** Ends the rows of a room that are too old now. Resolves as `end` does; with false at once where that is under way. */
  async endTooOld(claimed: RoomInHand): Promise<boolean> {
    const { maxAgeMs, now } = this.#options;
    if (this.#tooOld.has(claimed)) return false;
    this.#tooOld.add(claimed);
    const isDone = await this.end({ claimed, madeBefore: now() - maxAgeMs });
    this.#tooOld.delete(claimed);
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
    const { claimed, after, madeBefore, subscriptions, isOverLimit = false } = ending;
    const { room } = claimed;
    const isOwn = () => rooms.get(room) === claimed;
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
    for (const row of fresh) inHand.add(row, { crashes: 0, isOverLimit });
    onTaken(fresh.length);
    const last = taken.rows.at(-1);
    if (last !== undefined) ending.after = last;
    return true;
  }
}
