import { Account, Hosts, Neighbours, type HostLimits } from './account.ts';
import type { EndpointKey } from './endpoint.ts';
import { KnownEndpoint } from './known-endpoint.ts';
import { Ring } from './ring.ts';
import type { Holding } from './slots.ts';
import { Window, type WindowLimits } from './window.ts';

export type KnownEndpointsOptions = WindowLimits & {
  /** Endpoints remembered at most, beside those in use. */
  maxEndpoints: number;
  /** Idle ones are forgotten after this long. */
  forgetAfterMs: number;
  host: HostLimits;
  /** The size of a new endpoint's window. */
  startSize: (account: Holding) => number;
  /** What this process has, of 1, of the limits of an account's endpoints. Asked again and again: it changes. */
  partOf: (account: string) => number;
};

/** The owner of an endpoint's parked deliveries need not know its host. */
export type PartialKey = Omit<EndpointKey, 'host'> & { host?: string };

const UNKNOWN_HOST = '';

/** The endpoints that are remembered, the least recently used first. */
export class KnownEndpoints {
  readonly #options: KnownEndpointsOptions;
  readonly #byName = new Ring<string, KnownEndpoint>();
  readonly #accounts = new Map<string, Account>();
  readonly #hosts: Hosts;

  constructor(options: KnownEndpointsOptions) {
    this.#options = options;
    this.#hosts = new Hosts(options.maxEndpoints);
  }

  get count(): number {
    return this.#byName.size;
  }

  countHung(): number {
    let count = 0;
    for (const [, { hungSince }] of this.#byName) if (hungSince !== undefined) count += 1;
    return count;
  }

  get(name: string): KnownEndpoint | undefined {
    return this.#byName.get(name);
  }

  touch(key: PartialKey, now: number): KnownEndpoint {
    const known = this.#byName.get(key.endpoint);
    const endpoint = known ?? this.#newEndpoint(key, now);
    if (known === undefined) this.#byName.set(key.endpoint, endpoint);
    else this.#byName.toEnd(key.endpoint);
    endpoint.touchedAt = now;
    // Two at a time: one for the one that came, one to get ahead of those that came before.
    this.#forgetOldest(endpoint);
    this.#forgetOldest(endpoint);
    if (key.host !== undefined && endpoint.neighbours.name === UNKNOWN_HOST) this.#move(endpoint, key.host);
    return endpoint;
  }

  #newEndpoint({ account: accountName, endpoint: name, isKnownHung = false }: PartialKey, now: number): KnownEndpoint {
    const partOf = () => this.#options.partOf(accountName);
    const account = this.#accounts.get(accountName) ?? new Account(accountName, partOf);
    this.#accounts.set(accountName, account);
    const neighbours = this.#join(account, UNKNOWN_HOST);
    const window = new Window(this.#options, { size: this.#options.startSize(account), part: () => account.part });
    return new KnownEndpoint({ name, account, neighbours, window, ...(isKnownHung ? { hungSince: now } : {}) });
  }

  /**
   * A newcomer is trusted where another was answered quickly just now, and none waits for longer: a thousand
   * accounts may share one host.
   */
  #move(endpoint: KnownEndpoint, hostName: string): void {
    const { account, line } = endpoint;
    line?.delete(endpoint);
    account.leave(endpoint.neighbours);
    endpoint.neighbours = this.#join(account, hostName);
    line?.add(endpoint);
    const { host } = endpoint.neighbours;
    if (host.isQuick && host.silent === 0) endpoint.trustItsHost();
  }

  #join(account: Account, hostName: string): Neighbours {
    const limits = this.#options.host;
    return account.join(hostName, () => new Neighbours(hostName, { account, host: this.#hosts.get(hostName), limits }));
  }

  #forgetOldest(newest: KnownEndpoint): void {
    for (const [name, endpoint] of this.#byName) {
      const isSurplus = this.#byName.size > this.#options.maxEndpoints;
      const isIdle = newest.touchedAt - endpoint.touchedAt > this.#options.forgetAfterMs;
      if (endpoint === newest || (!isSurplus && !isIdle)) return;
      // One in use comes round again; it is not at the front for long.
      if (endpoint.isInUse) this.#byName.toEnd(name);
      else this.#forget(endpoint);
      return;
    }
  }

  #forget({ name, account, neighbours }: KnownEndpoint): void {
    this.#byName.delete(name);
    account.leave(neighbours);
    if (account.isForgotten) this.#accounts.delete(account.name);
  }
}
