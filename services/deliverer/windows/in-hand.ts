import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Entry, Origin, Waiter } from './origin.ts';
import type { Slots } from './slots.ts';
import { TRUSTS } from './slots.ts';
import type { Trust } from './window.ts';

export type InHandOptions = {
  clock: Clock;
  slots: Slots;
  /** How long a delivery waits for its window or for its share of the slots. */
  patienceMs: number;
};

/** The deliveries that wait in hand: first come, first served for each origin, and the origins in turn. */
export class InHand {
  readonly #clock: Clock;
  readonly #slots: Slots;
  readonly #patienceMs: number;
  /** Origins for which somebody waits and whose window has room, by how far they are trusted. */
  readonly #ready: Record<Trust, Set<Origin>> = { hung: new Set(), new: new Set(), slow: new Set(), quick: new Set() };
  /** Everybody, by deadline. */
  readonly #byDeadline = new Set<Waiter>();
  #timer: Timer | undefined;

  constructor({ clock, slots, patienceMs }: InHandOptions) {
    this.#clock = clock;
    this.#slots = slots;
    this.#patienceMs = patienceMs;
  }

  get count(): number {
    return this.#byDeadline.size;
  }

  /** Resolves with what it is granted in its turn; with undefined when that takes too long. */
  wait(origin: Origin): Promise<Entry | undefined> {
    const since = this.#clock.now();
    return new Promise((resolve) => {
      const waiter = { origin, since, deadline: since + this.#patienceMs, resolve };
      origin.waiting.add(waiter);
      this.#byDeadline.add(waiter);
      this.line(origin);
      this.#arm();
    });
  }

  /** Puts the origin where it belongs: at the end of those that can be served, or nowhere. */
  line(origin: Origin): void {
    for (const trust of TRUSTS) this.#ready[trust].delete(origin);
    if (origin.waiting.size === 0 || !origin.window.hasRoom(this.#clock.now())) return;
    this.#ready[origin.window.trust].add(origin);
  }

  /** The waiter whose turn it is: of the origins that have room in their window and in their share, the longest in line. */
  next(): Waiter | undefined {
    let first: Waiter | undefined;
    for (const trust of TRUSTS) {
      const waiter = this.#slots.admits(trust) ? this.#firstOf(trust) : undefined;
      if (waiter !== undefined && (first === undefined || waiter.since < first.since)) first = waiter;
    }
    return first;
  }

  remove(waiter: Waiter): void {
    waiter.origin.waiting.delete(waiter);
    this.#byDeadline.delete(waiter);
    if (this.#byDeadline.size === 0) this.#disarm();
  }

  /** Everybody is told that it takes too long. */
  close(): void {
    for (const waiter of this.#byDeadline) {
      this.remove(waiter);
      this.line(waiter.origin);
      waiter.resolve(undefined);
    }
  }

  #firstOf(trust: Trust): Waiter | undefined {
    for (const origin of this.#ready[trust]) {
      // It may have fallen silent since it was put in line.
      if (origin.window.hasRoom(this.#clock.now())) for (const waiter of origin.waiting) return waiter;
      this.#ready[trust].delete(origin);
    }
    return undefined;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    for (const { deadline } of this.#byDeadline) {
      this.#timer = this.#clock.after(Math.max(0, deadline - this.#clock.now()), () => this.#expire());
      return;
    }
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #expire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const waiter of this.#byDeadline) {
      if (waiter.deadline > now) break;
      if (this.#wouldGainNothing(waiter.origin, now)) {
        this.#byDeadline.delete(waiter);
        waiter.deadline = now + this.#patienceMs;
        this.#byDeadline.add(waiter);
        continue;
      }
      this.remove(waiter);
      this.line(waiter.origin);
      waiter.resolve(undefined);
    }
    this.#arm();
  }

  /** All slots are taken by others who are trusted: aside it would wait for the same slot, and further back. */
  #wouldGainNothing({ window }: Origin, now: number): boolean {
    return window.hasRoom(now) && this.#slots.lacksOnlySlots(window.trust);
  }
}
