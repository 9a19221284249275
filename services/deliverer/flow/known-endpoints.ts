import { type EndpointKey, ownCopy } from './endpoint.ts';
import { KnownEndpoint } from './known-endpoint.ts';
import { LinkedMap, AccountUsage, Hosts, HostUsage, type HostLimits, type AccountSlots } from './slots.ts';
import type { WindowLimits } from './window.ts';

export type KnownEndpointsOptions = WindowLimits & {
  /** Limit of the endpoints remembered, in addition to those in use. */
  maxEndpoints: number;
  /** Idle ones are forgotten after this long. */
  forgetAfterMs: number;
  host: HostLimits;
  /** The size of a new endpoint's window. */
  startSize: (account: AccountSlots) => number;
  others: OtherDeliverers;
};

/** The others as they were last known. `share`: this process's share of the limits of an endpoint, and of an account at a host. */
export type OtherDeliverers = {
  share: number;
  /** Endpoints that someone found to hang, and since when, by the clock. Only for those that this process does not know. */
  hungSince: Map<string, number>;
};

/** A caller that takes from an endpoint's room need not know its host. */
export type PartialKey = Omit<EndpointKey, 'host'> & { host?: string };

const UNKNOWN_HOST = '';

/** The endpoints that are remembered, the least recently used first. */
export class KnownEndpoints {
  readonly #options: KnownEndpointsOptions;
  readonly #byName = new LinkedMap<string, KnownEndpoint>();
  readonly #accounts = new Map<string, AccountUsage>();
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
    for (const { hungSince } of this.#byName) if (hungSince !== undefined) count += 1;
    return count;
  }

  get(name: string): KnownEndpoint | undefined {
    return this.#byName.get(name);
  }

  touch(key: PartialKey, now: number, isClaimed = false): KnownEndpoint {
    const known = this.#byName.get(key.endpoint);
    if (known !== undefined) this.#byName.toEnd(key.endpoint);
    const endpoint = known ?? this.#byName.add(this.#newEndpoint(key, isClaimed));
    endpoint.touchedAt = now;
    // Two at a time: one for the endpoint that came, one to catch up.
    this.#forgetOldest(endpoint);
    this.#forgetOldest(endpoint);
    if (key.host !== undefined && endpoint.hostUsage.host.name === UNKNOWN_HOST) this.#move(endpoint, key.host);
    return endpoint;
  }

  #newEndpoint(key: PartialKey, isClaimed: boolean): KnownEndpoint {
    const account = this.#accounts.get(key.account) ?? new AccountUsage(key.account, this.#options.others);
    this.#accounts.set(key.account, account);
    const hostUsage = this.#join(account, key.host ?? UNKNOWN_HOST);
    const { startSize, others } = this.#options;
    const window = { limits: this.#options, startSize: startSize(account) };
    const hungSince = others.hungSince.get(key.endpoint);
    const name = ownCopy(key.endpoint);
    const endpoint = new KnownEndpoint({
      key: name,
      account,
      hostUsage,
      hungSince,
      isClaimed,
      sharing: others,
      window,
    });
    expectAsOfHost(endpoint);
    return endpoint;
  }

  /** Moves an endpoint to its host. */
  #move(endpoint: KnownEndpoint, hostName: string): void {
    const { account, place } = endpoint;
    place?.queue.delete(endpoint);
    account.leave(endpoint.hostUsage);
    endpoint.hostUsage = this.#join(account, hostName);
    place?.queue.add(endpoint);
    expectAsOfHost(endpoint);
  }

  #join(account: AccountUsage, hostName: string): HostUsage {
    return account.join(hostName, () => {
      const host = this.#hosts.get(hostName);
      return new HostUsage({ account, host, limits: this.#options.host });
    });
  }

  #forgetOldest(newest: KnownEndpoint): void {
    const oldest = this.#byName.first;
    if (oldest === undefined || oldest === newest) return;
    const isSurplus = this.#byName.size > this.#options.maxEndpoints;
    if (!isSurplus && newest.touchedAt - oldest.touchedAt <= this.#options.forgetAfterMs) return;
    // An endpoint in use moves to the end.
    if (oldest.isInUse) this.#byName.toEnd(oldest.key);
    else this.#forget(oldest);
  }

  #forget({ key, account, hostUsage }: KnownEndpoint): void {
    this.#byName.delete(key);
    account.leave(hostUsage);
    if (account.isForgotten) this.#accounts.delete(account.name);
  }
}

/**
 * A new endpoint counts as quick if its host has just answered quickly and keeps none waiting: a thousand accounts may share one
 * host.
 */
function expectAsOfHost(endpoint: KnownEndpoint): void {
  const { host } = endpoint.hostUsage;
  if (host.isQuick && host.silent === 0) endpoint.assumeQuick();
}
