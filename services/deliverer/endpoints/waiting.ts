import type { Entry, PatientWish } from './endpoint.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import { ShortList } from './short-list.ts';

/** A delivery that waits in hand for its turn. */
export type Waiter = {
  readonly endpoint: KnownEndpoint;
  readonly wish: PatientWish;
  readonly resolve: (entry: Entry) => void;
};

/**
 * The deliveries in hand for one endpoint: each kind first come, first served. By hand goes first, then what has attempts
 * behind it, whose schedule runs; new and parked ones take turns while both wait.
 */
export class Waiting {
  readonly #byWish: Record<PatientWish, ShortList<Waiter>> = {
    'by hand': new ShortList(),
    retry: new ShortList(),
    fresh: new ShortList(),
    parked: new ShortList(),
  };
  #turnOf: 'fresh' | 'parked' = 'fresh';

  get count(): number {
    const { 'by hand': byHand, retry, fresh, parked } = this.#byWish;
    return byHand.size + retry.size + fresh.size + parked.size;
  }

  countOf(wish: PatientWish): number {
    return this.#byWish[wish].size;
  }

  add(waiter: Waiter): void {
    this.#byWish[waiter.wish].add(waiter);
  }

  delete(waiter: Waiter): void {
    this.#byWish[waiter.wish].delete(waiter);
  }

  /** The waiter whose turn it is. It is to be granted what it waits for. */
  next(): Waiter | undefined {
    const first = this.#byWish['by hand'].first ?? this.#byWish.retry.first;
    if (first !== undefined) return first;
    const mine = this.#byWish[this.#turnOf].first;
    const other = this.#turnOf === 'fresh' ? 'parked' : 'fresh';
    if (mine !== undefined) this.#turnOf = other;
    return mine ?? this.#byWish[other].first;
  }

  /** Those that no attempt was begun for, as far as is known here. */
  fresh(): Waiter[] {
    return [...this.#byWish.fresh.all(), ...this.#byWish.parked.all()];
  }

  /** Parked ones: all, or all beside the one that came first. */
  parked({ areAll }: { areAll: boolean }): Waiter[] {
    const all = this.#byWish.parked.all();
    return areAll ? all : all.slice(1);
  }
}
