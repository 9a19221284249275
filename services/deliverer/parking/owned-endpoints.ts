import type { Timer } from '@waybell/runtime/clock';
import type { ParkedHead, RowKey } from './parking-store.ts';

/** An endpoint with parked rows that this process owns. Times are milliseconds of its clock. */
export type OwnedEndpoint = {
  readonly endpoint: string;
  readonly account: string;
  readonly shard: number;
  /** Subscriptions that have, or had, rows; and the row after which each is read on. */
  readonly after: Map<string, RowKey | undefined>;
  /** When to read from the first row again, at the earliest. */
  restartAt: number;
  /** No rows followed those taken last. */
  isAtEnd: boolean;
  askTimer: Timer | undefined;
  /** Since when the endpoint has had room and got no row. */
  roomSince: number | undefined;
  isKnownHung: boolean;
  deaths: number;
};

/** Endpoints with parked rows that this process owns, found by endpoint and by subscription. */
export class OwnedEndpoints {
  readonly #endpoints = new Map<string, OwnedEndpoint>();
  readonly #ofSubscription = new Map<string, OwnedEndpoint>();
  /** Number of endpoints by account. */
  readonly #accounts = new Map<string, number>();

  /** The endpoint, and whether the subscription was known there. */
  put(head: ParkedHead): { owned: OwnedEndpoint; isKnown: boolean } {
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

  /** Forgets the owners that died: a row was handled to its end. */
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

  #forget({ endpoint, account, askTimer }: OwnedEndpoint): void {
    askTimer?.[Symbol.dispose]();
    this.#endpoints.delete(endpoint);
    const left = (this.#accounts.get(account) ?? 0) - 1;
    if (left > 0) this.#accounts.set(account, left);
    else this.#accounts.delete(account);
  }
}

function newEndpoint({ endpoint, account, shard, isHung, deaths }: ParkedHead): OwnedEndpoint {
  return {
    endpoint,
    account,
    shard,
    after: new Map(),
    restartAt: -Infinity,
    isAtEnd: false,
    askTimer: undefined,
    roomSince: undefined,
    isKnownHung: isHung,
    deaths,
  };
}
