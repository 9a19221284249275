import type { InHandLimit } from '@waybell/line/prefetch-budget';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Endpoints } from '../endpoints/endpoints.ts';
import { KEPT_FOR_SHUT, MOST_ROOMS, type ClaimedRooms, type RoomInHand } from './claimed-rooms.ts';
import type { RowsInHand } from './rows-in-hand.ts';

export type DueRoomsOptions = {
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
export class DueRooms {
  readonly #options: DueRoomsOptions;
  /** More shut rooms may be due than were claimed. */
  #areMoreShut = false;
  #more: Timer | undefined;

  constructor(options: DueRoomsOptions) {
    this.#options = options;
  }

  /** Resolves with new rooms, and own ones that changed. */
  async claim(): Promise<RoomInHand[]> {
    const { endpoints, rooms } = this.#options;
    const { open, shut, known } = this.#room();
    const claimed = await rooms.claim({ kind: 'endpoints', open, shut, exceptAccounts: rooms.fullAccounts() });
    const fresh = claimed.filter((own) => !known.has(own));
    const opened = fresh.filter(({ isUnprobed }) => !isUnprobed);
    // It was open for its last process, or is new: this process may still count it as hung.
    for (const { room } of opened) endpoints.probeSoon(room);
    if (shut > 0) this.#areMoreShut = fresh.length - opened.length >= shut;
    if (open > 0 && opened.length >= open) this.#soon();
    return claimed;
  }

  /** Notes that one more may be claimed. */
  hasCapacity(): void {
    if (this.#areMoreShut) this.#soon();
  }

  close(): void {
    this.#more?.[Symbol.dispose]();
  }

  #room(): { open: number; shut: number; known: ReadonlySet<RoomInHand> } {
    const { endpoints, rooms, inHand, limit } = this.#options;
    const known = new Set(rooms.all());
    const left = Math.max(0, MOST_ROOMS - known.size);
    const empty = [...known].filter(({ room }) => inHand.countOf(room) === 0);
    // At the limit in hand, a few rooms take turns with those that have rows in hand.
    const most = inHand.count < limit.messages ? MOST_OPEN : Math.max(0, MOST_OPEN - empty.length);
    const open = Math.min(most, Math.max(0, left - KEPT_FOR_SHUT));
    // A room that was claimed to be probed, and was not yet, will need a slot too.
    const unasked = empty.filter(({ isUnprobed }) => isUnprobed);
    const shut = Math.min(left - open, Math.max(0, endpoints.probeSlots() - unasked.length));
    return { open, shut, known };
  }

  #soon(): void {
    this.#more ??= this.#options.clock.after(MORE_MS, () => {
      this.#more = undefined;
      this.#options.onDue();
    });
    this.#more.unref();
  }
}
