import { LRUCache } from 'lru-cache';
import type { Holding, Trust } from './slots.ts';

/** What all accounts share at a host: how it answered last, and how many requests wait there for longer than usual. */
export type Host = { isQuick: boolean; silent: number };

/** The hosts used last. */
export class Hosts {
  readonly #byName: LRUCache<string, Host>;

  constructor(max: number) {
    this.#byName = new LRUCache({ max });
  }

  get(name: string): Host {
    const host = this.#byName.get(name) ?? { isQuick: false, silent: 0 };
    this.#byName.set(name, host);
    return host;
  }
}

export type HostLimits = {
  /** Requests of one account to one host under way at once, beside the first of each endpoint that is proven. */
  most: number;
  /** Requests among them that hang, before no more begin there that may hang too. */
  mostHanging: number;
};

/** Share of the slots that one account holds at one host; and share of that for what hangs. */
const HOST_PART = 1 / 8;
const HANGING_PART = 1 / 2;

export function hostLimits(slots: number): HostLimits {
  const most = Math.max(1, Math.floor(slots * HOST_PART));
  return { most, mostHanging: Math.max(1, Math.floor(most * HANGING_PART)) };
}

export type Begun = { readonly trust: Trust; readonly isFirst: boolean; isSilent: boolean };

/** One account's endpoints at one host. */
export class Neighbours {
  /** Endpoints remembered. */
  endpoints = 0;
  readonly name: string;
  readonly host: Host;
  readonly #account: Pick<Account, 'part'>;
  readonly #limits: HostLimits;
  /** Requests under way, beside the first of each endpoint that is proven. */
  #out = 0;
  /** Requests under way that began as probes, or have been silent. */
  #hanging = 0;

  constructor(
    name: string,
    { account, host, limits }: { account: Pick<Account, 'part'>; host: Host; limits: HostLimits },
  ) {
    this.name = name;
    this.#account = account;
    this.host = host;
    this.#limits = limits;
  }

  /** Whether a request of an endpoint trusted so much may begin here; `isFirst`: nothing is under way for that endpoint. */
  admits(trust: Trust, isFirst: boolean): boolean {
    if (isOutside({ trust, isFirst })) return true;
    if (this.#out >= this.#partOf(this.#limits.most)) return false;
    const mayHang = trust === 'hung' || (trust === 'new' && !isFirst);
    return !mayHang || this.#hanging < this.#partOf(this.#limits.mostHanging);
  }

  begin(request: Begun): void {
    if (!isOutside(request)) this.#out += 1;
    if (request.trust === 'hung') this.#hanging += 1;
  }

  fallSilent(request: Begun): void {
    this.host.silent += 1;
    if (request.trust !== 'hung') this.#hanging += 1;
  }

  end(request: Begun): void {
    if (!isOutside(request)) this.#out -= 1;
    if (request.isSilent) this.host.silent -= 1;
    if (request.isSilent || request.trust === 'hung') this.#hanging -= 1;
  }

  #partOf(limit: number): number {
    return Math.max(1, Math.floor(limit * this.#account.part));
  }
}

function isOutside({ trust, isFirst }: Pick<Begun, 'trust' | 'isFirst'>): boolean {
  return isFirst && (trust === 'slow' || trust === 'quick');
}

/** What is known of an account: what it holds, and its endpoints by host. */
export class Account implements Holding {
  unproven = 0;
  hung = 0;
  /** Fresh deliveries that wait in hand for its endpoints. */
  inHand = 0;
  readonly name: string;
  readonly #partOf: () => number;
  readonly #byHost = new Map<string, Neighbours>();

  constructor(name: string, partOf: () => number) {
    this.name = name;
    this.#partOf = partOf;
  }

  /** What this process has, of 1, of the limits of its endpoints: the rest is with the other deliverers. */
  get part(): number {
    return this.#partOf();
  }

  get isForgotten(): boolean {
    return this.#byHost.size === 0;
  }

  /** Counts one endpoint more at this host. */
  join(name: string, make: () => Neighbours): Neighbours {
    const neighbours = this.#byHost.get(name) ?? make();
    this.#byHost.set(name, neighbours);
    neighbours.endpoints += 1;
    return neighbours;
  }

  leave(neighbours: Neighbours): void {
    neighbours.endpoints -= 1;
    if (neighbours.endpoints === 0) this.#byHost.delete(neighbours.name);
  }
}
