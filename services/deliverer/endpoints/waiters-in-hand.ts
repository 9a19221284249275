import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Waiter } from './known-endpoint.ts';

export type WaitersInHandOptions = {
  clock: Clock;
  /** How long a delivery from a queue waits, before it is asked whether it waits on. */
  maxWaitMs: number;
  /** Returns whether the waiter waits for as long again; if not, it has been removed. */
  onExpired: (waiter: Waiter) => boolean;
};

/** Limit of waiters for one account, as a multiple of the limit for one endpoint. */
export const ACCOUNT_TIMES = 2;

/** All deliveries that wait in hand, with the deadlines of those from queues. */
export class WaitersInHand {
  readonly #options: WaitersInHandOptions;
  readonly #all = new Set<Waiter>();
  /** Waiters from queues, in the order of their deadlines. */
  readonly #deadlines = new Map<Waiter, number>();
  #timer: Timer | undefined;

  constructor(options: WaitersInHandOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all.size;
  }

  get countFresh(): number {
    return this.#deadlines.size;
  }

  [Symbol.iterator](): Iterator<Waiter> {
    return this.#all.values();
  }

  add(waiter: Waiter): void {
    this.#all.add(waiter);
    waiter.endpoint.addWaiter(waiter);
    if (waiter.origin !== 'fresh' && waiter.origin !== 'retry') return;
    waiter.endpoint.account.inHand += 1;
    this.#setDeadline(waiter);
  }

  remove(waiter: Waiter): void {
    this.#all.delete(waiter);
    waiter.endpoint.waiting.delete(waiter);
    if (this.#deadlines.delete(waiter)) waiter.endpoint.account.inHand -= 1;
    if (this.#deadlines.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #setDeadline(waiter: Waiter): void {
    const { clock, maxWaitMs } = this.#options;
    this.#deadlines.delete(waiter);
    this.#deadlines.set(waiter, clock.now() + maxWaitMs);
    this.#timer ??= clock.after(maxWaitMs, () => this.#expire());
  }

  #expire(): void {
    const { clock, onExpired } = this.#options;
    const now = clock.now();
    // The timer that fired stays set meanwhile, so that `#setDeadline` sets no other.
    for (const [waiter, deadline] of this.#deadlines) {
      if (deadline > now) break;
      if (onExpired(waiter)) this.#setDeadline(waiter);
    }
    this.#timer = undefined;
    for (const [, deadline] of this.#deadlines) {
      this.#timer = clock.after(Math.max(0, deadline - now), () => this.#expire());
      break;
    }
  }
}
