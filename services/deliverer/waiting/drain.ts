import { PauseReasons, type Broker, type ConsumeCallbacks, type Consumer } from '@waybell/line/broker';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { RENEW_MS, type Released, type WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { FindTargets } from '../find-target.ts';
import { ClaimedRooms, type RoomInHand, MOST_ROOMS, KEPT_FOR_SHUT } from './claimed-rooms.ts';
import { EndRows, RoomScan } from './room-scan.ts';
import { RowsInHand, type RowInHand, RowReader } from './rows-in-hand.ts';

type DrainOptions = {
  store: WaitingStore;
  endpoints: Endpoints;
  broker: Pick<Broker, 'state' | 'onState'>;
  findTargets: FindTargets;
  /** Limit of the rows in hand. */
  inHandLimit: InHandLimit;
  /** Older deliveries end without an attempt. */
  maxAgeMs: number;
  onTaken: (rows: number) => void;
  clock: Clock;
  now: () => number;
  log: Log;
};

const POLL_MS = 1_000;
/** Rows deleted at once. */
const MOST_DELETED = 500;
const WARNING = 'waiting.away: what waits for endpoints waits on';

/**
 * Drains the rooms of endpoints: claims those that are due, takes rows whose endpoint has capacity or that must end, has each handled
 * like one from a queue, and deletes it when its effects are safe. See docs/decisions/0006-waiting-rooms.md.
 *
 * A room, as this process sees it:
 *
 *   not claimed ── due (DueRooms), or its endpoint has capacity (RequestedRooms) ──▶ claimed
 *        ▲                                                                            │  │
 *        │                       ┌── its endpoint demands rows ───────────────────────┘  └── its subscriptions changed, or its
 *        │                       ▼                                                            account exceeds a limit
 *        │                 read (RowReader) ◀────┐                                               ▼
 *        │                       │ rows in hand  │ more                                    scanned (RoomScan): rows that are
 *        │                       ▼               │                                         over end (EndRows), others move
 *        │                 handled, and deleted ─┘                                               │
 *        │                       ▼                                                               ▼
 *        └── released ──── leaving: nothing is in hand, no scan is under way, and there are no rows or no demand for them
 *                                   (for 2 s, if only a slot lacks), or the drain is paused, or it has been claimed for
 *                                   long and others are due (`mustYield`)
 *
 *   lost: the claim ended, or was not renewed ──▶ its rows in hand are cut, none of their effects is published ──▶ not claimed
 *
 * Everything that happens calls `#work`, and one round at a time does what has come together, each part by one statement:
 *
 *   delete handled rows ─▶ release rooms that are left ─▶ claim requested rooms ─▶ claim due rooms ─▶ again, if there is more
 *
 * What a failed round has not done is left to the next one, which comes with the next handled row or poll, within a second. Reads and scans run beside the rounds.
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly rooms: ClaimedRooms;
  readonly #inHand: RowsInHand;
  readonly #reader: RowReader;
  readonly #ends: EndRows;
  readonly #scanner: RoomScan;
  readonly #due: DueRooms;
  readonly #pauses = new PauseReasons();
  readonly #timed: AsyncDisposable[];
  readonly #onFailed: (error: unknown) => void;
  #toDelete: RowInHand[] = [];
  readonly #toRelease = new Map<RoomInHand, Released>();
  readonly #requested: RequestedRooms;
  #isPollDue = false;
  #isWorking = false;
  #working: Promise<void> | undefined;

  constructor(options: DrainOptions, consuming: ConsumeCallbacks) {
    this.#options = options;
    const { store, broker, inHandLimit, clock, log } = options;
    this.#onFailed = throttledWarning(log, WARNING, clock);
    this.rooms = new ClaimedRooms({ store, clock, onLost: (room) => this.#inHand.cut(room) });
    this.#requested = new RequestedRooms(this.rooms);
    const onDone = (row: RowInHand) => {
      this.#toDelete.push(row);
      this.#work();
    };
    this.#inHand = new RowsInHand({ consuming, onDone, onFreed: (room) => this.#freed(room) });
    const common = {
      ...options,
      rooms: this.rooms,
      inHand: this.#inHand,
      limit: inHandLimit,
      isPaused: () => this.#isPaused,
      onFailed: this.#onFailed,
    };
    this.#ends = new EndRows(common);
    this.#reader = new RowReader({
      ...common,
      onIdle: (claimed, afterMs) => this.#leave(claimed, afterMs),
      onTooOld: (claimed) => void this.#ends.endTooOld(claimed).then((isDone) => isDone && this.#reader.check(claimed)),
    });
    this.#scanner = new RoomScan({
      ...common,
      ends: this.#ends,
      onChanged: (endpoint) => options.endpoints.probeSoon(endpoint),
      onScanned: (claimed) => this.#reader.check(claimed),
    });
    this.#due = new DueRooms({ ...common, onDue: () => this.#claimSoon() });
    broker.onState((state) => void (state === 'writable' && this.#poll()));
    const again = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, warning: WARNING, log, clock });
    // A long poll must not cost the claims.
    this.#timed = [again(RENEW_MS, () => this.#renew()), again(POLL_MS, () => this.#poll())];
  }

  /** Controls for the line, the same as those of a queue's consumer. */
  get consumer(): Consumer {
    return {
      pause: async (reason) => {
        this.#pauses.pause(reason);
        for (const claimed of this.rooms.all()) this.#reader.check(claimed);
      },
      resume: (reason) => {
        this.#pauses.resume(reason);
        void this.#poll();
      },
      inHand: () => this.#inHand.count,
    };
  }

  /** Called when an endpoint has capacity: its room is claimed, due or not. */
  hasCapacity(endpoint: string): void {
    const claimed = this.rooms.get(endpoint);
    if (claimed !== undefined && !claimed.isLeaving) return this.#reader.check(claimed);
    this.#requested.add(endpoint);
    this.#work();
  }

  /** Returns for how long an endpoint's room has been shut, from before it was claimed; undefined if it was open then, or was probed since. */
  shutForMs(endpoint: string): number | undefined {
    const claimed = this.rooms.get(endpoint);
    if (claimed?.shutForMs === undefined || !claimed.isUnprobed) return undefined;
    return claimed.shutForMs + this.#options.clock.now() - claimed.claimedAt;
  }

  /** Scans a room with a row that has moved or lost its target. */
  scan(room: string): void {
    const claimed = this.rooms.get(room);
    if (claimed !== undefined) this.#scanner.request(claimed, true);
  }

  figures(): { claimed: number; shut: number } {
    const { endpoints } = this.#options;
    const rooms = [...this.rooms.all()];
    return {
      claimed: rooms.length,
      shut: rooms.filter((claimed) => claimed.isUnprobed || endpoints.isHung(claimed.room)).length,
    };
  }

  /** Gives up its rooms. To be disposed of once nothing is in hand. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#pauses.pause('closing');
    this.#due.close();
    this.#ends.close();
    await Promise.all(this.#timed.map((each) => each[Symbol.asyncDispose]()));
    this.#work();
    await this.#idle();
    for (const claimed of this.rooms.all()) if (this.#inHand.countOf(claimed.room) === 0) this.#leave(claimed);
    await this.#idle();
    this.rooms.close();
  }

  get #isPaused(): boolean {
    return this.#pauses.isPaused || this.#options.broker.state() !== 'writable';
  }

  async #renew(): Promise<void> {
    for (const claimed of await this.rooms.renew()) this.#begin(claimed);
  }

  async #poll(): Promise<void> {
    this.rooms.yieldOldest();
    for (const claimed of this.rooms.all()) this.#reader.check(claimed);
    this.#claimSoon();
    await this.#working;
  }

  #claimSoon(): void {
    this.#isPollDue = true;
    this.#requested.recheck();
    this.#work();
  }

  #begin(claimed: RoomInHand): void {
    if (claimed.changes > 0 || claimed.overBefore !== undefined) this.#scanner.request(claimed);
    this.#reader.check(claimed);
  }

  #freed(room: string): void {
    const claimed = this.rooms.get(room);
    if (claimed === undefined) return;
    this.#reader.check(claimed);
    this.#due.hasCapacity();
  }

  /** Leaves a room that has no rows in hand, and none that its endpoint takes now. */
  #leave(claimed: RoomInHand, afterMs?: number): void {
    const { endpoints, clock } = this.#options;
    const since = endpoints.hungSince(claimed.room);
    const shutForMs = since === undefined ? this.shutForMs(claimed.room) : clock.now() - since;
    const released = {
      room: claimed.room,
      ...(afterMs !== undefined && { afterMs }),
      ...(shutForMs !== undefined && { shutForMs }),
    };
    claimed.isLeaving = true;
    this.#toRelease.set(claimed, released);
    this.#work();
  }

  /** Deletes, releases and claims: what comes at once goes together, and one statement after another. */
  #work(): void {
    if (!this.#isWorking) this.#working = this.#round();
  }

  async #round(): Promise<void> {
    this.#isWorking = true;
    let isAway = false;
    try {
      await Promise.resolve();
      await this.#deleteHandled();
      await this.#release();
      if (this.#requested.isDue) await this.#claimRequested();
      if (this.#isPollDue) await this.#claimDue();
    } catch (error) {
      isAway = true;
      this.#onFailed(error);
    } finally {
      this.#isWorking = false;
    }
    // Otherwise the next poll tries it again.
    if (!isAway && (this.#toDelete.length + this.#toRelease.size > 0 || this.#requested.isDue || this.#isPollDue))
      this.#work();
  }

  async #idle(): Promise<void> {
    while (this.#isWorking) await this.#working;
  }

  async #deleteHandled(): Promise<void> {
    const rows = this.#toDelete.splice(0, MOST_DELETED).filter((row) => this.#inHand.isCurrent(row));
    if (rows.length === 0) return;
    try {
      await this.#options.store.settle(rows);
    } catch (error) {
      this.#toDelete.push(...rows);
      throw error;
    }
    for (const { room } of rows) {
      const claimed = this.rooms.get(room);
      if (claimed !== undefined) Object.assign(claimed, { isUnprobed: false, crashes: 0, lives: true });
    }
    for (const row of rows) this.#inHand.free(row);
  }

  async #release(): Promise<void> {
    const leaving = [...this.#toRelease];
    this.#toRelease.clear();
    if (leaving.length === 0) return;
    try {
      await this.rooms.release(leaving.map(([, released]) => released));
    } catch (error) {
      for (const [{ room }] of leaving) this.#requested.add(room);
      throw error;
    } finally {
      this.#requested.recheck();
    }
    this.#due.hasCapacity();
  }

  async #claimRequested(): Promise<void> {
    for (const claimed of await this.#requested.claim({ isPaused: this.#isPaused })) this.#begin(claimed);
  }

  async #claimDue(): Promise<void> {
    this.#isPollDue = false;
    if (!this.#isPaused) for (const claimed of await this.#due.claim()) this.#begin(claimed);
  }
}

/** Rooms to be claimed by name as soon as possible: later if it is being left, or if this process has as many as it may. */
class RequestedRooms {
  readonly #rooms: ClaimedRooms;
  readonly #names = new Set<string>();
  /** Whether some may be claimed now. */
  isDue = false;

  constructor(rooms: ClaimedRooms) {
    this.#rooms = rooms;
  }

  add(room: string): void {
    this.#names.add(room);
    this.isDue = true;
  }

  /** Checks whether some have become due. */
  recheck(): void {
    this.isDue ||= this.#names.size > 0;
  }

  /** Resolves with new rooms. */
  async claim({ isPaused }: { isPaused: boolean }): Promise<RoomInHand[]> {
    this.isDue = false;
    for (const room of this.#names) if (this.#rooms.get(room)?.isLeaving === false) this.#names.delete(room);
    const left = isPaused ? 0 : Math.max(0, MOST_ROOMS - this.#rooms.count);
    const rooms = [...this.#names].filter((room) => this.#rooms.get(room) === undefined).slice(0, left);
    if (rooms.length === 0) return [];
    const found = await this.#rooms.claim({ kind: 'named', rooms });
    for (const room of rooms) this.#names.delete(room);
    return found;
  }
}

type DueRoomsOptions = {
  endpoints: Pick<Endpoints, 'probeSlots' | 'probeSoon'>;
  rooms: ClaimedRooms;
  inHand: RowsInHand;
  limit: InHandLimit;
  clock: Pick<Clock, 'after'>;
  /** Called when rooms may be due. */
  onDue: () => void;
};

/** Open rooms claimed at once. */
const MOST_OPEN = 50;
/** While more rooms wait than were claimed at once, the next are claimed after this pause. */
const MORE_MS = 100;

/** Claims rooms that are due: open ones first, and of shut ones no more than may be probed. */
class DueRooms {
  readonly #options: DueRoomsOptions;
  /** More shut rooms may be due than were claimed. */
  #areMoreShut = false;
  #more: Timer | undefined;

  constructor(options: DueRoomsOptions) {
    this.#options = options;
  }

  /** Resolves with new rooms, and with those claimed before that changed. */
  async claim(): Promise<RoomInHand[]> {
    const { endpoints, rooms } = this.#options;
    const { open, shut, known } = this.#limits();
    const found = await rooms.claim({ kind: 'endpoints', open, shut, exceptAccounts: rooms.fullAccounts() });
    const fresh = found.filter((claimed) => !known.has(claimed));
    const opened = fresh.filter(({ isUnprobed }) => !isUnprobed);
    // It was open for its last process, or is new: this process may still count it as hung.
    for (const { room } of opened) endpoints.probeSoon(room);
    if (shut > 0) this.#areMoreShut = fresh.length - opened.length >= shut;
    if (open > 0 && opened.length >= open) this.#claimSoon();
    return found;
  }

  /** Notes that one more may be claimed. */
  hasCapacity(): void {
    if (this.#areMoreShut) this.#claimSoon();
  }

  close(): void {
    this.#more?.[Symbol.dispose]();
  }

  #limits(): { open: number; shut: number; known: ReadonlySet<RoomInHand> } {
    const { endpoints, rooms, inHand, limit } = this.#options;
    const known = new Set(rooms.all());
    const left = Math.max(0, MOST_ROOMS - known.size);
    const empty = [...known].filter(({ room }) => inHand.countOf(room) === 0);
    // At the limit in hand, only a few rooms are claimed beside those that have rows in hand.
    const most = inHand.count < limit.messages ? MOST_OPEN : Math.max(0, MOST_OPEN - empty.length);
    const open = Math.min(most, Math.max(0, left - KEPT_FOR_SHUT));
    // A room that was claimed to be probed, and was not yet, will need a slot too.
    const toProbe = empty.filter(({ isUnprobed }) => isUnprobed);
    const shut = Math.min(left - open, Math.max(0, endpoints.probeSlots() - toProbe.length));
    return { open, shut, known };
  }

  #claimSoon(): void {
    this.#more ??= this.#options.clock.after(MORE_MS, () => {
      this.#more = undefined;
      this.#options.onDue();
    });
    this.#more.unref();
  }
}
