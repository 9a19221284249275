import { LRUCache } from 'lru-cache';
import { ownCopy } from './own-copy.ts';
import type { AccountSlots, EndpointClass } from './slots.ts';
import type { LimitShare, PartOf } from './window.ts';

/** A host, for all accounts: how it answered last, and how many requests are silent there. */
export type HostState = { readonly name: string; isQuick: boolean; silent: number };

/** The state of the hosts used last. */
export class Hosts {
  readonly #byName: LRUCache<string, HostState>;

  constructor(max: number) {
    this.#byName = new LRUCache({ max });
  }

  get(name: string): HostState {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const host = { name: ownCopy(name), isQuick: false, silent: 0 };
    this.#byName.set(host.name, host);
    return host;
  }
}

export type HostLimits = {
  /** Requests of one account to one host under way at once, not counting the first of each proven endpoint. */
  most: number;
  /** Hanging requests among them; at this many, no request begins that may hang too. */
  mostHanging: number;
};

/** Share of the slots that one account may hold at one host; and share of that for hanging requests. */
const HOST_PART = 1 / 8;
const HANGING_PART = 1 / 2;

export function hostLimits(slots: number): HostLimits {
  const most = Math.max(1, Math.floor(slots * HOST_PART));
  return { most, mostHanging: Math.max(1, Math.floor(most * HANGING_PART)) };
}

/** The state that a request under way is counted with: class and `isFirst` as they were when it began. */
type CountedRequest = {
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  readonly isSilent: boolean;
};

/** Counts the requests of one account at one host. */
export class HostUsage {
  /** Endpoints remembered. */
  endpoints = 0;
  readonly host: HostState;
  readonly #account: LimitShare;
  readonly #limits: HostLimits;
  /** Requests under way, not counting the first of each proven endpoint. */
  #out = 0;
  /** Requests under way that began as probes, or have been silent. */
  #hanging = 0;

  constructor({ account, host, limits }: { account: LimitShare; host: HostState; limits: HostLimits }) {
    this.#account = account;
    this.host = host;
    this.#limits = limits;
  }

  /** Whether a request to an endpoint of this class may begin here; `isFirst`: none is under way to that endpoint. */
  admits(endpointClass: EndpointClass, isFirst: boolean): boolean {
    if (isOutside({ endpointClass, isFirst })) return true;
    if (this.#out >= ownPart(this.#limits.most, this.#account)) return false;
    const mayHang = endpointClass === 'hung' || (endpointClass === 'new' && !isFirst);
    return !mayHang || this.#hanging < ownPart(this.#limits.mostHanging, this.#account);
  }

  begin(request: CountedRequest): void {
    if (!isOutside(request)) this.#out += 1;
    if (request.endpointClass === 'hung') this.#hanging += 1;
  }

  fallSilent(request: CountedRequest): void {
    this.host.silent += 1;
    if (request.endpointClass !== 'hung') this.#hanging += 1;
  }

  end(request: CountedRequest): void {
    if (!isOutside(request)) this.#out -= 1;
    if (request.isSilent) this.host.silent -= 1;
    if (request.isSilent || request.endpointClass === 'hung') this.#hanging -= 1;
  }
}

function ownPart(limit: number, { part }: LimitShare): number {
  return Math.max(1, Math.floor(limit * part));
}

function isOutside({ endpointClass, isFirst }: Pick<CountedRequest, 'endpointClass' | 'isFirst'>): boolean {
  return isFirst && (endpointClass === 'slow' || endpointClass === 'quick');
}

/** Counts the requests and waiters of one account, by host. */
export class AccountUsage implements AccountSlots {
  unproven = 0;
  hung = 0;
  /** Fresh deliveries that wait in hand for its endpoints. */
  inHand = 0;
  readonly name: string;
  readonly #partOf: PartOf;
  // Most accounts have one host: no map for these.
  #oneHost: HostUsage | undefined;
  #otherHosts: Map<string, HostUsage> | undefined;

  constructor(name: string, partOf: PartOf) {
    this.name = name;
    this.#partOf = partOf;
  }

  /** This process's part of the account's limits at a host, from 0 to 1; the other deliverers have the rest. */
  get part(): number {
    return this.#partOf(this.name);
  }

  get isForgotten(): boolean {
    return this.#oneHost === undefined && !this.#otherHosts?.size;
  }

  /** Counts one endpoint more at this host. */
  join(name: string, make: () => HostUsage): HostUsage {
    const known = this.#oneHost?.host.name === name ? this.#oneHost : this.#otherHosts?.get(name);
    const hostUsage = known ?? make();
    hostUsage.endpoints += 1;
    if (known !== undefined) return known;
    if (this.#oneHost === undefined) this.#oneHost = hostUsage;
    else (this.#otherHosts ??= new Map()).set(name, hostUsage);
    return hostUsage;
  }

  leave(hostUsage: HostUsage): void {
    hostUsage.endpoints -= 1;
    if (hostUsage.endpoints > 0) return;
    if (hostUsage === this.#oneHost) this.#oneHost = undefined;
    else this.#otherHosts?.delete(hostUsage.host.name);
  }
}
