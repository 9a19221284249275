import type { WaitingLane } from '@waybell/line/topology';
import type { Clock } from '@waybell/runtime/clock';
import { InHand } from './in-hand.ts';
import { Origins, type Entry, type Origin, type OriginKey, type OriginsOptions } from './origin.ts';
import { Slots, TRUSTS, type Shares } from './slots.ts';
import type { Trust } from './window.ts';

export type WindowsOptions = OriginsOptions & {
  clock: Clock;
  /** Requests under way at once, over all origins. */
  slots: number;
  shares: Shares;
  /** How long a delivery waits in hand for its window or for its share of the slots. */
  patienceMs: number;
  /** Deliveries that wait so at most, over all origins. */
  maxInHand: number;
  /** An origin whose deliveries were put aside has room now. */
  onRoom?: (lane: WaitingLane) => void;
};

/**
 * Says who may make a request now, so that nobody waits behind a receiver that hangs but that receiver itself. See
 * docs/decisions/0004-flow.md.
 */
export class Windows {
  readonly #options: WindowsOptions;
  readonly #origins: Origins;
  readonly #slots: Slots;
  readonly #inHand: InHand;
  readonly #aside: Record<WaitingLane, number> = { busy: 0, hung: 0 };
  /** Somebody was put aside because those trusted so little had their share. */
  readonly #lackedShare = new Set<Trust>();
  #isClosed = false;

  constructor(options: WindowsOptions) {
    this.#options = options;
    this.#origins = new Origins(options);
    this.#slots = new Slots(options.slots, options.shares);
    this.#inHand = new InHand({ clock: options.clock, slots: this.#slots, patienceMs: options.patienceMs });
  }

  async enter(key: OriginKey): Promise<Entry> {
    const origin = this.#origins.touch(key, this.#options.clock.now());
    if (origin.waiting.size === 0 && this.#hasRoom(origin)) return this.#grant(origin);
    if (!this.#mayWait(origin)) return this.#putAside(origin);
    return (await this.#inHand.wait(origin)) ?? this.#putAside(origin);
  }

  /** From now on nobody waits in hand: who cannot be served at once is put aside. */
  close(): void {
    this.#isClosed = true;
    this.#inHand.close();
  }

  figures() {
    return {
      slots: Object.fromEntries(TRUSTS.map((trust) => [trust, this.#slots.held(trust)])) as Record<Trust, number>,
      inHand: this.#inHand.count,
      origins: this.#origins.count,
      aside: this.#aside,
    };
  }

  /** Origins whose deliveries were put aside and that had no room since. */
  countFull(): number {
    return this.#origins.countWhere(({ asideIn }) => asideIn !== undefined);
  }

  #hasRoom({ window }: Origin): boolean {
    return window.hasRoom(this.#options.clock.now()) && this.#slots.admits(window.trust);
  }

  #mayWait({ window, waiting }: Origin): boolean {
    const now = this.#options.clock.now();
    if (this.#isClosed || window.isHung(now)) return false;
    if (window.out + waiting.size < window.size && this.#slots.lacksOnlySlots(window.trust)) return true;
    const { maxInHand, patienceMs } = this.#options;
    return this.#inHand.count < maxInHand && waiting.size < window.servedWithin(patienceMs);
  }

  #grant(origin: Origin): Entry {
    const beganAt = this.#options.clock.now();
    const { trust } = origin.window;
    const request = { beganAt };
    origin.window.begin(beganAt);
    origin.host.underWay.add(request);
    this.#slots.take(trust);
    return {
      kind: 'granted',
      end: (ending) => {
        origin.window.end({ ending, beganAt, now: this.#options.clock.now() });
        origin.host.isQuick = ending === 'quick';
        origin.host.underWay.delete(request);
        this.#slots.giveBack(trust);
        this.#serve(origin);
      },
    };
  }

  #putAside(origin: Origin): Entry {
    const { window } = origin;
    const lane = window.isHung(this.#options.clock.now()) ? 'hung' : 'busy';
    if (!this.#slots.admits(window.trust)) this.#lackedShare.add(window.trust);
    origin.asideIn = lane;
    this.#aside[lane] += 1;
    return { kind: 'full', lane };
  }

  /** Hands on what the end of a request of `ended` made free. */
  #serve(ended: Origin): void {
    this.#inHand.line(ended);
    for (let waiter = this.#inHand.next(); waiter !== undefined; waiter = this.#inHand.next()) {
      this.#inHand.remove(waiter);
      const entry = this.#grant(waiter.origin);
      this.#inHand.line(waiter.origin);
      waiter.resolve(entry);
    }
    this.#tellOfRoom(ended);
  }

  #tellOfRoom(ended: Origin): void {
    const { onRoom = () => undefined } = this.#options;
    if (ended.asideIn !== undefined && this.#hasRoom(ended)) {
      onRoom(ended.asideIn);
      ended.asideIn = undefined;
    }
    for (const trust of this.#lackedShare) {
      if (!this.#slots.admits(trust)) continue;
      this.#lackedShare.delete(trust);
      onRoom(trust === 'hung' ? 'hung' : 'busy');
    }
  }
}
