import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { Unavailable } from '@waybell/runtime/unavailable';
import { roomOf } from '../endpoints/endpoint.ts';
import type { DeliveryTarget, FindTargets } from '../find-target.ts';
import { dropReason, holdOf } from '../end-without-attempt.ts';
import type { RoomInHand } from './claimed-rooms.ts';
import type { EndRows } from './end-rows.ts';
import type { RowsInHand } from './rows-in-hand.ts';

export type RoomScanOptions = {
  store: Pick<WaitingStore, 'subscriptionsIn' | 'move' | 'noteScanned'>;
  findTargets: FindTargets;
  inHand: RowsInHand;
  ends: EndRows;
  /** A held row is due, at the latest, at this age. */
  maxAgeMs: number;
  now: () => number;
  /** Called for an endpoint that may take something now. */
  onChanged: (endpoint: string) => void;
  onLooked: (own: RoomInHand) => void;
  onFailed: (error: unknown) => void;
};

const MOST_LOOKED_UP = 1_000;

/**
 * Looks once through a room whose subscriptions changed, or whose account exceeds a limit: ends deliveries that are over, moves
 * those with another endpoint to its room, and held ones to a room of their own, or back.
 */
export class RoomScan {
  readonly #options: RoomScanOptions;
  /** Whether to read the subscriptions in the room, though none is known to have changed. */
  readonly #wanting = new Map<RoomInHand, boolean>();
  #isLooking = false;

  constructor(options: RoomScanOptions) {
    this.#options = options;
  }

  want(own: RoomInHand, isChanged = own.changes > 0): void {
    if (own.isScanned || own.isLeaving) return;
    own.isScanned = true;
    own.holds += 1;
    this.#wanting.set(own, isChanged);
    if (!this.#isLooking) void this.#lookAll();
  }

  /** One room after another: a look is short, and the deliveries that it ends are taken together with the next. */
  async #lookAll(): Promise<void> {
    this.#isLooking = true;
    for (const [own, isChanged] of this.#wanting) {
      this.#wanting.delete(own);
      const { changes, overBefore } = own;
      const seen = { changes, ...(overBefore !== undefined && { overBefore }) };
      try {
        void this.#finish(own, seen, await this.#look(own, isChanged));
      } catch (error) {
        this.#fail(own, error);
      }
    }
    this.#isLooking = false;
  }

  /** Resolves with the promise of the rows being ended. */
  async #look(own: RoomInHand, isChanged: boolean): Promise<Promise<boolean>[]> {
    const { store, findTargets, ends } = this.#options;
    const { room, overBefore } = own;
    const ending = overBefore === undefined ? [] : [ends.end({ own, madeBefore: overBefore, isOverLimit: true })];
    if (!isChanged) return ending;
    const subscriptions = await store.subscriptionsIn(room);
    const over: string[] = [];
    for (let first = 0; first < subscriptions.length; first += MOST_LOOKED_UP) {
      const some = subscriptions.slice(first, first + MOST_LOOKED_UP);
      const targets = await findTargets(some);
      for (const [place, subscription] of some.entries()) {
        const target = targets[place];
        if (target instanceof Unavailable) throw target;
        // The handler of its deliveries reports a subscription that cannot be read.
        if (target instanceof Error) continue;
        if (target === undefined || dropReason(target) !== undefined) over.push(subscription);
        else await this.#follow(own, subscription, target);
      }
    }
    if (over.length === 0) return ending;
    return [...ending, ends.end({ own, madeBefore: Number.MAX_SAFE_INTEGER, subscriptions: over })];
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
    own: RoomInHand,
    seen: Pick<RoomInHand, 'changes' | 'overBefore'>,
    ending: readonly Promise<boolean>[],
  ): Promise<void> {
    try {
      const areDone = await Promise.all(ending);
      if (areDone.every(Boolean)) await this.#options.store.noteScanned(own.room, seen);
      own.changes = 0;
      this.#leave(own);
    } catch (error) {
      this.#fail(own, error);
    }
  }

  /** The next claims return a changed room again. */
  #fail(own: RoomInHand, error: unknown): void {
    this.#options.onFailed(error);
    this.#leave(own);
  }

  #leave(own: RoomInHand): void {
    own.isScanned = false;
    own.holds -= 1;
    this.#options.onLooked(own);
  }
}
