import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Waiter } from './waiting.ts';

export type InHandOptions = {
  clock: Clock;
  /** How long a delivery from a queue waits. */
  patienceMs: number;
  /** It has waited for so long: whether it is to wait for as long again. Else it is to be removed. */
  onExpired: (waiter: Waiter) => boolean;
};

/** What waits in hand for one account, as a multiple of what may for one endpoint. */
export const ACCOUNT_TIMES = 2;

/** All deliveries that wait in hand, and until when the fresh ones do. */
export class InHand {
  readonly #options: InHandOptions;
  readonly #all = new Set<Waiter>();
  /** Those from a queue, in the order of their deadlines. */
  readonly #deadlines = new Map<Waiter, number>();
  #timer: Timer | undefined;

  constructor(options: InHandOptions) {
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
    waiter.endpoint.waiting.add(waiter);
    if (waiter.wish !== 'fresh' && waiter.wish !== 'retry') return;
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
    const { clock, patienceMs } = this.#options;
    this.#deadlines.delete(waiter);
    this.#deadlines.set(waiter, clock.now() + patienceMs);
    this.#timer ??= clock.after(patienceMs, () => this.#expire());
  }

  #expire(): void {
    const { clock, onExpired } = this.#options;
    const now = clock.now();
    // The timer that has fired stays in its place meanwhile, so that no other is set.
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
