import type { WaitingOrigin } from './endpoint.ts';
import { emptyList, withItem, withoutItem } from './short-list.ts';

/**
 * Deliveries in hand that wait for one endpoint, each kind first come, first served. Those by hand go first, then retries,
 * as their schedule runs; fresh ones and those that waited in the room take turns while both wait.
 */
export class WaitingDeliveries<Waiter extends { readonly origin: WaitingOrigin }> {
  readonly #byOrigin: Record<WaitingOrigin, Waiter[]> = {
    'by hand': emptyList(),
    retry: emptyList(),
    fresh: emptyList(),
    waited: emptyList(),
  };
  #turnOf: 'fresh' | 'waited' = 'fresh';

  get count(): number {
    const { 'by hand': byHand, retry, fresh, waited } = this.#byOrigin;
    return byHand.length + retry.length + fresh.length + waited.length;
  }

  countOf(origin: WaitingOrigin): number {
    return this.#byOrigin[origin].length;
  }

  add(waiter: Waiter): void {
    this.#byOrigin[waiter.origin] = withItem(this.#byOrigin[waiter.origin], waiter);
  }

  delete(waiter: Waiter): void {
    this.#byOrigin[waiter.origin] = withoutItem(this.#byOrigin[waiter.origin], waiter);
  }

  /** The waiter whose turn it is. The caller grants its request. */
  next(): Waiter | undefined {
    const first = this.#byOrigin['by hand'][0] ?? this.#byOrigin.retry[0];
    if (first !== undefined) return first;
    const mine = this.#byOrigin[this.#turnOf][0];
    const other = this.#turnOf === 'fresh' ? 'waited' : 'fresh';
    if (mine !== undefined) this.#turnOf = other;
    return mine ?? this.#byOrigin[other][0];
  }

  /** Waiters without an attempt, as far as is known here. */
  fresh(): Waiter[] {
    return [...this.#byOrigin.fresh, ...this.#byOrigin.waited];
  }

  /** Waiters that came from the room: all, or all but the first. */
  waited({ areAll }: { areAll: boolean }): Waiter[] {
    return this.#byOrigin.waited.slice(areAll ? 0 : 1);
  }
}
