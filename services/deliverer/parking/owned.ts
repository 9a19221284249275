import type { Timer } from '@waybell/runtime/clock';
import type { Head, RowKey } from './parking-store.ts';

/** An endpoint with parked rows that this process owns. Times are milliseconds of its clock. */
export type OwnedEndpoint = {
  readonly endpoint: string;
  readonly account: string;
  readonly shard: number;
  /** Subscriptions that have, or had, rows; and after which row each is looked through. */
  readonly after: Map<string, RowKey | undefined>;
  /** It is to be looked through from the first row again, but not before then. */
  restartAt: number;
  /** Nothing was left behind the rows that were taken last. */
  isAtEnd: boolean;
  asking: Timer | undefined;
  /** Since when it had room, and nothing came of it. */
  roomSince: number | undefined;
  isKnownHung: boolean;
  deaths: number;
};

/** What this process owns: by endpoint, and which endpoint each subscription's rows are for. */
export class Owned {
  readonly #endpoints = new Map<string, OwnedEndpoint>();
  readonly #ofSubscription = new Map<string, OwnedEndpoint>();
  /** How many endpoints there are of each account. */
  readonly #accounts = new Map<string, number>();

  /** The endpoint, and whether the subscription was known there. */
  put(head: Head): { owned: OwnedEndpoint; isKnown: boolean } {
    const { subscription, endpoint, isHung, deaths } = head;
    const before = this.#ofSubscription.get(subscription);
    if (before?.endpoint === endpoint) return { owned: before, isKnown: true };
    if (before !== undefined) this.remove(subscription);
    const owned = this.#endpoints.get(endpoint) ?? this.#add(newEndpoint(head));
    this.#ofSubscription.set(subscription, owned);
    owned.after.set(subscription, undefined);
    owned.isAtEnd = false;
    owned.isKnownHung ||= isHung;
    owned.deaths = Math.max(owned.deaths, deaths);
    return { owned, isKnown: before !== undefined };
  }

  get(endpoint: string): OwnedEndpoint | undefined {
    return this.#endpoints.get(endpoint);
  }

  /** One of its rows was handled to its end. */
  lives(endpoint: string): void {
    const owned = this.#endpoints.get(endpoint);
    if (owned !== undefined) owned.deaths = 0;
  }

  of(subscription: string): OwnedEndpoint | undefined {
    return this.#ofSubscription.get(subscription);
  }

  all(): Iterable<OwnedEndpoint> {
    return this.#endpoints.values();
  }

  get count(): number {
    return this.#endpoints.size;
  }

  subscriptions(): string[] {
    return [...this.#ofSubscription.keys()];
  }

  hasAccount(account: string): boolean {
    return this.#accounts.has(account);
  }

  ofAccount(account: string): string[] {
    return [...this.#ofSubscription].filter(([, owned]) => owned.account === account).map(([guid]) => guid);
  }

  remove(subscription: string): void {
    const owned = this.#ofSubscription.get(subscription);
    this.#ofSubscription.delete(subscription);
    owned?.after.delete(subscription);
    if (owned?.after.size === 0) this.#forget(owned);
  }

  removeShards(isGone: (shard: number) => boolean): void {
    for (const [subscription, { shard }] of this.#ofSubscription) if (isGone(shard)) this.remove(subscription);
  }

  #add(owned: OwnedEndpoint): OwnedEndpoint {
    this.#endpoints.set(owned.endpoint, owned);
    this.#accounts.set(owned.account, (this.#accounts.get(owned.account) ?? 0) + 1);
    return owned;
  }

  #forget({ endpoint, account, asking }: OwnedEndpoint): void {
    asking?.[Symbol.dispose]();
    this.#endpoints.delete(endpoint);
    const left = (this.#accounts.get(account) ?? 0) - 1;
    if (left > 0) this.#accounts.set(account, left);
    else this.#accounts.delete(account);
  }
}

function newEndpoint({ endpoint, account, shard, isHung, deaths }: Head): OwnedEndpoint {
  return {
    endpoint,
    account,
    shard,
    after: new Map(),
    restartAt: -Infinity,
    isAtEnd: false,
    asking: undefined,
    roomSince: undefined,
    isKnownHung: isHung,
    deaths,
  };
}
