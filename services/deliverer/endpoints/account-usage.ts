import { LRUCache } from 'lru-cache';
import type { AccountSlots, EndpointClass } from './slots.ts';

/** A host, for all accounts: how it answered last, and how many requests are silent there. */
export type HostState = { isQuick: boolean; silent: number };

/** The state of the hosts used last. */
export class Hosts {
  readonly #byName: LRUCache<string, HostState>;

  constructor(max: number) {
    this.#byName = new LRUCache({ max });
  }

  get(name: string): HostState {
    const host = this.#byName.get(name) ?? { isQuick: false, silent: 0 };
    this.#byName.set(name, host);
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

/** A request under way; class and `isFirst` as they were when it began. */
export type RunningRequest = {
  readonly beganAt: number;
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  isSilent: boolean;
};

/** Counts the requests of one account at one host. */
export class HostUsage {
  /** Endpoints remembered. */
  endpoints = 0;
  readonly name: string;
  readonly host: HostState;
  readonly #account: Pick<AccountUsage, 'part'>;
  readonly #limits: HostLimits;
  /** Requests under way, not counting the first of each proven endpoint. */
  #out = 0;
  /** Requests under way that began as probes, or have been silent. */
  #hanging = 0;

  constructor(
    name: string,
    { account, host, limits }: { account: Pick<AccountUsage, 'part'>; host: HostState; limits: HostLimits },
  ) {
    this.name = name;
    this.#account = account;
    this.host = host;
    this.#limits = limits;
  }

  /** Whether a request to an endpoint of this class may begin here; `isFirst`: none is under way to that endpoint. */
  admits(endpointClass: EndpointClass, isFirst: boolean): boolean {
    if (isOutside({ endpointClass, isFirst })) return true;
    if (this.#out >= this.#partOf(this.#limits.most)) return false;
    const mayHang = endpointClass === 'hung' || (endpointClass === 'new' && !isFirst);
    return !mayHang || this.#hanging < this.#partOf(this.#limits.mostHanging);
  }

  begin(request: RunningRequest): void {
    if (!isOutside(request)) this.#out += 1;
    if (request.endpointClass === 'hung') this.#hanging += 1;
  }

  fallSilent(request: RunningRequest): void {
    this.host.silent += 1;
    if (request.endpointClass !== 'hung') this.#hanging += 1;
  }

  end(request: RunningRequest): void {
    if (!isOutside(request)) this.#out -= 1;
    if (request.isSilent) this.host.silent -= 1;
    if (request.isSilent || request.endpointClass === 'hung') this.#hanging -= 1;
  }

  #partOf(limit: number): number {
    return Math.max(1, Math.floor(limit * this.#account.part));
  }
}

function isOutside({ endpointClass, isFirst }: Pick<RunningRequest, 'endpointClass' | 'isFirst'>): boolean {
  return isFirst && (endpointClass === 'slow' || endpointClass === 'quick');
}

/** Counts the requests and waiters of one account, by host. */
export class AccountUsage implements AccountSlots {
  unproven = 0;
  hung = 0;
  /** Fresh deliveries that wait in hand for its endpoints. */
  inHand = 0;
  readonly name: string;
  readonly #partOf: () => number;
  readonly #byHost = new Map<string, HostUsage>();

  constructor(name: string, partOf: () => number) {
    this.name = name;
    this.#partOf = partOf;
  }

  /** This process's part of the limits of its endpoints, from 0 to 1; the other deliverers have the rest. */
  get part(): number {
    return this.#partOf();
  }

  get isForgotten(): boolean {
    return this.#byHost.size === 0;
  }

  /** Counts one endpoint more at this host. */
  join(name: string, make: () => HostUsage): HostUsage {
    const hostUsage = this.#byHost.get(name) ?? make();
    this.#byHost.set(name, hostUsage);
    hostUsage.endpoints += 1;
    return hostUsage;
  }

  leave(hostUsage: HostUsage): void {
    hostUsage.endpoints -= 1;
    if (hostUsage.endpoints === 0) this.#byHost.delete(hostUsage.name);
  }
}
