import type { Clock } from '@waybell/runtime/clock';
import { CLAIM_MS, RENEW_MS, type Released, type RowKey, type TakenRow, type WaitingStore } from './waiting-store.ts';

/** A claimed destination. Times are the clock's. */
export type ClaimedDestination = {
  room: string;
  /** The end of the claim. */
  until: number;
  /** Since when it has taken nothing; absent: it is open. */
  shutAt?: number | undefined;
  /** It has taken a message since it was claimed. */
  isProven: boolean;
  /** The row that was taken last. */
  after?: RowKey | undefined;
  underWay?: { rows: readonly TakenRow[]; done: Promise<void> } | undefined;
  /** When it is to be tried again, once it is given up; null: as soon as a row is due. */
  tryAfterMs?: number | null;
};

const MOST = 128;

/** The destinations that this process has claimed; the one that was used last comes last. */
export class ClaimedDestinations {
  readonly #store: Pick<WaitingStore, 'claim' | 'renew' | 'release'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #all = new Map<string, ClaimedDestination>();
  #renewedAt = -Infinity;

  constructor(store: Pick<WaitingStore, 'claim' | 'renew' | 'release'>, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  get all(): ClaimedDestination[] {
    return [...this.#all.values()];
  }

  /** Claimed destinations whose claim has not run out, with nothing under way. */
  get idle(): ClaimedDestination[] {
    return this.all.filter((each) => each.underWay === undefined && each.tryAfterMs === undefined && this.isHeld(each));
  }

  isHeld({ room, until }: ClaimedDestination): boolean {
    return this.#all.has(room) && this.#clock.now() < until;
  }

  bytesUnderWay(): number {
    const rows = this.all.flatMap(({ underWay }) => underWay?.rows ?? []);
    return rows.reduce((sum, { publication }) => sum + publication.body.length, 0);
  }

  figures(): { claimed: number; shut: number } {
    const shut = this.all.filter(({ shutAt }) => shutAt !== undefined);
    return { claimed: this.#all.size, shut: shut.length };
  }

  /** Does nothing if its claim was lost, even if it was claimed again since. */
  wasUsed(destination: ClaimedDestination): void {
    const { room } = destination;
    if (this.#all.get(room) !== destination) return;
    this.#all.delete(room);
    this.#all.set(room, destination);
  }

  /** Resolves with whether there may be more. */
  async claim(isAnyDue: boolean): Promise<boolean> {
    const now = this.#clock.now();
    const most = MOST - this.#all.size;
    if (most <= 0) return true;
    const rooms = await this.#store.claim({ kind: 'destinations', most, isAnyDue });
    for (const { room, shutForMs } of rooms) {
      const shutAt = shutForMs === undefined ? undefined : now - shutForMs;
      this.#all.set(room, { room, until: now + CLAIM_MS, shutAt, isProven: false });
    }
    return rooms.length === most;
  }

  /** Renews the claims, if that is due, and forgets those that were lost. */
  async renew(): Promise<void> {
    const now = this.#clock.now();
    if (this.#all.size === 0 || now - this.#renewedAt < RENEW_MS) return;
    const renewed = await this.#store.renew([...this.#all.keys()].map((room) => ({ room, lives: true })));
    const held = new Set(renewed.map(({ room }) => room));
    for (const [room, destination] of this.#all) {
      if (held.has(room)) destination.until = now + CLAIM_MS;
      else this.#all.delete(room);
    }
    this.#renewedAt = now;
  }

  /** Gives these up, shut if they have taken nothing lately. */
  async release(destinations: readonly ClaimedDestination[]): Promise<void> {
    if (destinations.length === 0) return;
    const now = this.#clock.now();
    await this.#store.release(
      destinations.map(({ room, tryAfterMs, shutAt }): Released => ({
        room,
        ...(typeof tryAfterMs === 'number' && { afterMs: tryAfterMs }),
        ...(shutAt !== undefined && { shutForMs: now - shutAt }),
      })),
    );
    for (const { room } of destinations) this.#all.delete(room);
  }
}
