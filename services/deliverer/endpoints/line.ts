import type { Account, Neighbours } from './account.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import { Ring } from './ring.ts';
import { TRUSTS, type Slots, type Trust } from './slots.ts';

/** Endpoints that wait for a place: accounts in turn, within an account its hosts, and at a host its endpoints. */
export class Line {
  readonly trust: Trust;
  readonly isFirst: boolean;
  readonly #accounts = new Ring<Account, Ring<Neighbours, Ring<KnownEndpoint, KnownEndpoint>>>();

  constructor(trust: Trust, isFirst: boolean) {
    this.trust = trust;
    this.isFirst = isFirst;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  add(endpoint: KnownEndpoint): void {
    const { account, neighbours } = endpoint;
    const hosts = this.#accounts.get(account) ?? new Ring<Neighbours, Ring<KnownEndpoint, KnownEndpoint>>();
    const endpoints = hosts.get(neighbours) ?? new Ring<KnownEndpoint, KnownEndpoint>();
    this.#accounts.set(account, hosts.set(neighbours, endpoints.set(endpoint, endpoint)));
  }

  delete(endpoint: KnownEndpoint): void {
    const { account, neighbours } = endpoint;
    const hosts = this.#accounts.get(account);
    const endpoints = hosts?.get(neighbours);
    endpoints?.delete(endpoint);
    if (endpoints?.size === 0) hosts?.delete(neighbours);
    if (hosts?.size === 0) this.#accounts.delete(account);
  }

  /** It has had its turn: its account and its host go behind the others. */
  turn(endpoint: KnownEndpoint): void {
    const { account, neighbours } = endpoint;
    this.delete(endpoint);
    this.#accounts.get(account)?.toEnd(neighbours);
    this.#accounts.toEnd(account);
  }

  /**
   * The endpoint whose turn it is, among those that may begin. Few are passed over: only so many accounts and hosts can hold all that
   * is theirs as there are parts for.
   */
  next(slots: Slots): KnownEndpoint | undefined {
    if (this.isEmpty || slots.free(this.trust) === 0) return undefined;
    for (const [account, hosts] of this.#accounts) {
      if (!slots.admits(this.trust, account)) continue;
      for (const [neighbours, endpoints] of hosts) {
        if (!neighbours.admits(this.trust, this.isFirst)) continue;
        for (const [endpoint] of endpoints) return endpoint;
      }
    }
    return undefined;
  }
}

/** Lines for all that endpoints can lack: a place among those trusted so much, and at their host. */
export class Lines {
  readonly #lines = TRUSTS.flatMap((trust) => [new Line(trust, true), new Line(trust, false)]);

  /** Puts the endpoint in the line that is its own now, where it keeps the place that it has. */
  stand(endpoint: KnownEndpoint, now: number): void {
    const { trust, isFirst } = endpoint;
    const own = this.#lines.find((line) => line.trust === trust && line.isFirst === isFirst);
    if (endpoint.line === own) return;
    endpoint.line?.delete(endpoint);
    own?.add(endpoint);
    endpoint.line = own;
    endpoint.lineSince = now;
  }

  /** The endpoint that has been in line for longest, among those that come first and may begin. */
  next(slots: Slots, trust?: Trust): KnownEndpoint | undefined {
    let longest: KnownEndpoint | undefined;
    for (const line of this.#lines) {
      const endpoint = trust === undefined || line.trust === trust ? line.next(slots) : undefined;
      if (endpoint === undefined) continue;
      if (longest === undefined || endpoint.lineSince < longest.lineSince) longest = endpoint;
    }
    return longest;
  }
}
