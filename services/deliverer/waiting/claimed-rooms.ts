import type { RowKey } from '@waybell/line/messages';
import {
  CLAIM_MS,
  type Claim,
  type ClaimedRoom,
  type Released,
  type WaitingStore,
} from '@waybell/line/waiting-room/waiting-store';
import type { Clock, Timer } from '@waybell/runtime/clock';

/** Rooms that are claimed at once, at most. */
export const MOST_ROOMS = 512;
/** Number of claims kept for rooms that are shut. */
export const KEPT_FOR_SHUT = 64;
/** Rooms of one account among them, from which on no more of it are claimed. */
const MOST_OF_ACCOUNT = 64;
/** At the limit of claims, a room that has been claimed for this long is released, because others may be due. */
const YIELD_AFTER_MS = 10_000;
/** Rooms that yield to others at once, and those of one account among them. */
const MOST_YIELDING = { all: 64, ofAccount: 8 };

/** A claimed room, and its use by this process. Times are those of this process's clock. */
export type RoomInHand = ClaimedRoom & {
  readonly account: string;
  readonly claimedAt: number;
  /** End of the claim. */
  until: number;
  /** Whether it was shut when it was claimed, and no row was handled since. */
  isUnprobed: boolean;
  /** A row was deleted since the claim was renewed. */
  lives: boolean;
  /** The row to read on after. */
  after: RowKey | undefined;
  /** When to read from the first row again, at the earliest. */
  restartAt: number;
  /** No rows followed those taken last. */
  isAtEnd: boolean;
  /** Since when its endpoint lacks only a slot. */
  lackingSince: number | undefined;
  /** Work under way in the whole room: it is not released meanwhile. */
  workUnderWay: number;
  isBeingScanned: boolean;
  /** Whether it is to be left for other rooms: no more rows are taken from it. */
  mustYield: boolean;
  isLeaving: boolean;
};

export type ClaimedRoomsOptions = {
  store: Pick<WaitingStore, 'claim' | 'renew' | 'release'>;
  clock: Clock;
  /** Called when the claim of a room has ended or was lost. */
  onLost: (room: string) => void;
};

/**
 * Rooms that this process has claimed. Counts a claim by its own monotonic clock, from before the request: a process that stood
 * still notices at once that its claims have ended.
 */
export class ClaimedRooms {
  readonly #options: ClaimedRoomsOptions;
  readonly #rooms = new Map<string, RoomInHand>();
  /** Number of rooms by account. */
  readonly #accounts = new Map<string, number>();
  /** No claim ends before. */
  #firstEnd = Infinity;
  #watch: Timer | undefined;

  constructor(options: ClaimedRoomsOptions) {
    this.#options = options;
  }

  get(room: string): RoomInHand | undefined {
    return this.#rooms.get(room);
  }

  all(): Iterable<RoomInHand> {
    return this.#rooms.values();
  }

  get count(): number {
    return this.#rooms.size;
  }

  hasAccount(account: string): boolean {
    return this.#accounts.has(account);
  }

  /** Accounts of which no more rooms are to be claimed. */
  fullAccounts(): string[] {
    return [...this.#accounts].filter(([, count]) => count >= MOST_OF_ACCOUNT).map(([account]) => account);
  }

  /** Has those that were claimed first yield, some at a time, if no more may be claimed. */
  yieldOldest(): void {
    const full = new Set(this.fullAccounts());
    const isFull = this.count >= MOST_ROOMS - KEPT_FOR_SHUT;
    if (!isFull && full.size === 0) return;
    const over = new Map<string, number>();
    let left = MOST_YIELDING.all;
    for (const claimed of this.all()) {
      if (left === 0 || claimed.claimedAt > this.#options.clock.now() - YIELD_AFTER_MS) return;
      const ofAccount = (over.get(claimed.account) ?? 0) + 1;
      if (claimed.workUnderWay > 0 || ofAccount > MOST_YIELDING.ofAccount || !(isFull || full.has(claimed.account)))
        continue;
      over.set(claimed.account, ofAccount);
      claimed.mustYield = true;
      left -= 1;
    }
  }

  /** Resolves with the rooms: new ones, and those claimed before that changed. */
  async claim(claim: Claim): Promise<RoomInHand[]> {
    const askedAt = this.#options.clock.now();
    const claimed = await this.#options.store.claim(claim);
    this.expire();
    const rooms = claimed.map((room) => this.#update(room, askedAt) ?? this.#add(room, askedAt));
    this.#checkEnds();
    return rooms;
  }

  /** Resolves with the rooms that are still claimed. The others are lost. */
  async renew(): Promise<RoomInHand[]> {
    const asked = [...this.all()].map((claimed) => ({ claimed, room: claimed.room, lives: claimed.lives }));
    if (asked.length === 0) return [];
    const askedAt = this.#options.clock.now();
    for (const { claimed } of asked) claimed.lives = false;
    const renewed = await this.#options.store.renew(asked.map(({ room, lives }) => ({ room, lives })));
    this.expire();
    const kept = new Set(renewed.map((room) => this.#update(room, askedAt)));
    for (const { claimed } of asked) if (!kept.has(claimed) && !claimed.isLeaving) this.#lose(claimed);
    return [...this.all()].filter((claimed) => kept.has(claimed));
  }

  /** Without an answer they are given up as well: another process may have claimed them by then. */
  async release(released: readonly Released[]): Promise<void> {
    try {
      await this.#options.store.release(released);
    } finally {
      for (const { room } of released) this.#remove(room);
    }
  }

  /** Loses the rooms whose claim has ended. */
  expire(): void {
    if (this.#options.clock.now() >= this.#firstEnd) this.#checkEnds();
  }

  close(): void {
    this.#watch?.[Symbol.dispose]();
  }

  #checkEnds(): void {
    const { clock } = this.#options;
    const now = clock.now();
    for (const claimed of this.all()) if (claimed.until <= now) this.#lose(claimed);
    this.#firstEnd = Infinity;
    for (const { until } of this.all()) this.#firstEnd = Math.min(this.#firstEnd, until);
    this.#watch?.[Symbol.dispose]();
    if (this.#firstEnd === Infinity) return;
    this.#watch = clock.after(this.#firstEnd - now, () => this.#checkEnds());
    this.#watch.unref();
  }

  #update({ room, changes, overBefore, crashes }: ClaimedRoom, askedAt: number): RoomInHand | undefined {
    const claimed = this.#rooms.get(room);
    if (claimed === undefined) return undefined;
    Object.assign(claimed, { changes, overBefore, crashes, until: Math.max(claimed.until, askedAt + CLAIM_MS) });
    return claimed;
  }

  #add(room: ClaimedRoom, askedAt: number): RoomInHand {
    const { account = '' } = room;
    const claimed: RoomInHand = {
      ...room,
      account,
      claimedAt: askedAt,
      until: askedAt + CLAIM_MS,
      isUnprobed: room.shutForMs !== undefined,
      lives: false,
      after: undefined,
      restartAt: -Infinity,
      isAtEnd: false,
      lackingSince: undefined,
      workUnderWay: 0,
      isBeingScanned: false,
      mustYield: false,
      isLeaving: false,
    };
    this.#rooms.set(room.room, claimed);
    this.#accounts.set(account, (this.#accounts.get(account) ?? 0) + 1);
    return claimed;
  }

  /** Does nothing if it was claimed again since. */
  #lose(claimed: RoomInHand): void {
    const { room } = claimed;
    if (this.#rooms.get(room) === claimed && this.#remove(room)) this.#options.onLost(room);
  }

  #remove(room: string): boolean {
    const claimed = this.#rooms.get(room);
    if (claimed === undefined) return false;
    this.#rooms.delete(room);
    const left = (this.#accounts.get(claimed.account) ?? 0) - 1;
    if (left > 0) this.#accounts.set(claimed.account, left);
    else this.#accounts.delete(claimed.account);
    return true;
  }
}
