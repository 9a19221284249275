import type { PatientOrigin } from './endpoint.ts';
import { ShortList } from './short-list.ts';

/**
 * Deliveries in hand that wait for one endpoint, each kind first come, first served. Those by hand go first, then retries,
 * as their schedule runs; fresh and parked ones take turns while both wait.
 */
export class WaitingDeliveries<Waiter extends { readonly origin: PatientOrigin }> {
  readonly #byOrigin: Record<PatientOrigin, ShortList<Waiter>> = {
    'by hand': new ShortList(),
    retry: new ShortList(),
    fresh: new ShortList(),
    parked: new ShortList(),
  };
  #turnOf: 'fresh' | 'parked' = 'fresh';

  get count(): number {
    const { 'by hand': byHand, retry, fresh, parked } = this.#byOrigin;
    return byHand.size + retry.size + fresh.size + parked.size;
  }

  countOf(origin: PatientOrigin): number {
    return this.#byOrigin[origin].size;
  }

  add(waiter: Waiter): void {
    this.#byOrigin[waiter.origin].add(waiter);
  }

  delete(waiter: Waiter): void {
    this.#byOrigin[waiter.origin].delete(waiter);
  }

  /** The waiter whose turn it is. The caller grants its request. */
  next(): Waiter | undefined {
    const first = this.#byOrigin['by hand'].first ?? this.#byOrigin.retry.first;
    if (first !== undefined) return first;
    const mine = this.#byOrigin[this.#turnOf].first;
    const other = this.#turnOf === 'fresh' ? 'parked' : 'fresh';
    if (mine !== undefined) this.#turnOf = other;
    return mine ?? this.#byOrigin[other].first;
  }

  /** Waiters without an attempt, as far as is known here. */
  fresh(): Waiter[] {
    return [...this.#byOrigin.fresh.all(), ...this.#byOrigin.parked.all()];
  }

  /** Parked waiters: all, or all but the first. */
  parked({ areAll }: { areAll: boolean }): Waiter[] {
    const all = this.#byOrigin.parked.all();
    return areAll ? all : all.slice(1);
  }
}
