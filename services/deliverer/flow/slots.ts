/**
 * Slots for requests, who uses them, and who waits for one. `Slots` counts over all endpoints, `HostUsage` those of one account at one
 * host; a request needs both. `SlotQueues` has the endpoints that lack a slot: accounts, then their hosts, then endpoints go round.
 */
import { LRUCache } from 'lru-cache';
import { type ResponseSpeed, ownCopy } from './endpoint.ts';
import { START_SIZE, type LimitShare } from './window.ts';

/** An entry of a LinkedMap, which keeps its neighbours in it. */
type Linked<K, Entry> = {
  readonly key: K;
  before: Entry | undefined;
  after: Entry | undefined;
};

/** An entry with a value. */
export class LinkedEntry<K, V> implements Linked<K, LinkedEntry<K, V>> {
  readonly key: K;
  readonly value: V;
  before: LinkedEntry<K, V> | undefined;
  after: LinkedEntry<K, V> | undefined;

  constructor(key: K, value: V) {
    this.key = key;
    this.value = value;
  }
}

/**
 * A map in insertion order, as a linked list of its entries: all operations take constant time. A plain Map whose first
 * entries are deleted again and again walks over the gaps.
 */
export class LinkedMap<K, Entry extends Linked<K, Entry>> {
  readonly #entries = new Map<K, Entry>();
  #first: Entry | undefined;
  #last: Entry | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get first(): Entry | undefined {
    return this.#first;
  }

  get(key: K): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Puts an entry last, whose key must be new. */
  add(entry: Entry): Entry {
    this.#entries.set(entry.key, entry);
    this.#append(entry);
    return entry;
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#cut(entry);
  }

  toEnd(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry === this.#last) return;
    this.#cut(entry);
    this.#append(entry);
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let entry = this.#first; entry !== undefined; entry = entry.after) yield entry;
  }

  #append(entry: Entry): void {
    entry.before = this.#last;
    entry.after = undefined;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
  }

  #cut({ before, after }: Entry): void {
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
  }
}

/** The expected behaviour of an endpoint: the speed of its last answer, `new` without one, or `hung`. */
export type EndpointClass = ResponseSpeed | 'new';

/** From the worst to the best. */
export const ENDPOINT_CLASSES = ['hung', 'new', 'slow', 'quick'] as const satisfies EndpointClass[];

/** Shares of all slots, from 0 to 1: how much the endpoints of a class and all worse ones may hold together. */
export type Shares = Record<Exclude<EndpointClass, 'quick'>, number>;

/** Slots that an account holds for new and hung endpoints (`unproven`), and among them for hung ones. */
export type AccountSlots = { unproven: number; hung: number };

/** An account holds at most this share of the slots for unproven endpoints, and of those for hung ones, … */
const ACCOUNT_SHARE = 1 / 8;
/** … unless less than this share of them is used. */
const LENT_SHARE = 3 / 4;
const HALF = 1 / 2;

/**
 * Counts requests under way over all endpoints. Worse classes hold at most a share, so that better ones always have the
 * rest: a request begins only while probes of hung endpoints ≤ their share, these and new ≤ theirs, these, slow and silent
 * ≤ theirs, and all ≤ the slots. A silent request to a new endpoint makes way for other new ones: it is as good as hung.
 */
export class Slots {
  readonly #limits: Record<EndpointClass, number>;
  readonly #used: Record<EndpointClass, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  /** Silent requests to new endpoints; `#held.new` does not count them. */
  #silent = 0;
  /** Free slots that are kept for probes. */
  reserved = 0;

  constructor(slots: number, shares: Shares) {
    const limit = (share: number) => Math.max(1, Math.floor(slots * share));
    this.#limits = { hung: limit(shares.hung), new: limit(shares.new), slow: limit(shares.slow), quick: slots };
  }

  used(): Record<EndpointClass, number> {
    return { ...this.#used };
  }

  /** Slots that endpoints of this class could have now, of any account. */
  free(endpointClass: EndpointClass): number {
    return Math.max(0, Math.min(this.#freeInShare(endpointClass), this.#freeInAll()));
  }

  /** `hasReserved`: a slot is kept for its probe. */
  admits(endpointClass: EndpointClass, account: AccountSlots, hasReserved = false): boolean {
    return (hasReserved || this.free(endpointClass) > 0) && this.#isWithinShare(endpointClass, account);
  }

  /** Whether only a slot is missing, which an endpoint of a better class holds. */
  lacksOnlySlots(endpointClass: EndpointClass, account: AccountSlots): boolean {
    return (
      this.#freeInAll() <= 0 && this.#freeInShare(endpointClass) > 0 && this.#isWithinShare(endpointClass, account)
    );
  }

  /** Whether less than half of the slots for hung endpoints are used. */
  isHungHalfFree(): boolean {
    return this.#used.hung < this.#limits.hung * HALF;
  }

  /** The window with which a new endpoint begins: 1 if slots for unproven endpoints are scarce. */
  startSize(account: AccountSlots): number {
    const isRoomy = this.#used.hung + this.#used.new + this.#silent < this.#limits.new * HALF;
    return isRoomy && account.unproven < accountShare(this.#limits.new) ? START_SIZE : 1;
  }

  acquire(endpointClass: EndpointClass, account: AccountSlots): void {
    this.#used[endpointClass] += 1;
    this.#count(endpointClass, account, 1);
  }

  /** A request has been silent for longer than an answer takes. */
  fallSilent({ endpointClass }: { endpointClass: EndpointClass }): void {
    if (endpointClass !== 'new') return;
    this.#used.new -= 1;
    this.#silent += 1;
  }

  release(
    { endpointClass, isSilent }: { endpointClass: EndpointClass; isSilent: boolean },
    account: AccountSlots,
  ): void {
    if (endpointClass === 'new' && isSilent) this.#silent -= 1;
    else this.#used[endpointClass] -= 1;
    this.#count(endpointClass, account, -1);
  }

  #count(endpointClass: EndpointClass, account: AccountSlots, by: 1 | -1): void {
    if (endpointClass === 'hung') account.hung += by;
    if (endpointClass === 'hung' || endpointClass === 'new') account.unproven += by;
  }

  #freeInAll(): number {
    const { hung, new: fresh, slow, quick } = this.#used;
    return this.#limits.quick - hung - fresh - slow - quick - this.#silent - this.reserved;
  }

  #freeInShare(endpointClass: EndpointClass): number {
    const { new: fresh, slow } = this.#used;
    const hung = this.#used.hung + this.reserved;
    if (endpointClass === 'quick') return Infinity;
    const ofSlow = this.#limits.slow - hung - fresh - slow - this.#silent;
    if (endpointClass === 'slow') return ofSlow;
    const ofNew = Math.min(ofSlow, this.#limits.new - hung - fresh);
    return endpointClass === 'new' ? ofNew : Math.min(ofNew, this.#limits.hung - hung);
  }

  #isWithinShare(endpointClass: EndpointClass, account: AccountSlots): boolean {
    if (endpointClass === 'quick' || endpointClass === 'slow') return true;
    const { hung, new: fresh } = this.#used;
    const limits = this.#limits;
    const lent = limits.new * LENT_SHARE;
    if (account.unproven >= accountShare(limits.new) && Math.max(account.unproven, hung + fresh) >= lent) return false;
    return endpointClass === 'new' || account.hung < accountShare(limits.hung) || hung < limits.hung * LENT_SHARE;
  }
}

function accountShare(limit: number): number {
  return Math.max(1, Math.floor(limit * ACCOUNT_SHARE));
}

/** A host, for all accounts: how it answered last, and how many requests are silent there. */
type HostState = { readonly name: string; isQuick: boolean; silent: number };

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
const HOST_SHARE = 1 / 8;
const HANGING_SHARE = 1 / 2;

export function hostLimits(slots: number): HostLimits {
  const most = Math.max(1, Math.floor(slots * HOST_SHARE));
  return { most, mostHanging: Math.max(1, Math.floor(most * HANGING_SHARE)) };
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
    if (this.#out >= ownShare(this.#limits.most, this.#account)) return false;
    const mayHang = endpointClass === 'hung' || (endpointClass === 'new' && !isFirst);
    return !mayHang || this.#hanging < ownShare(this.#limits.mostHanging, this.#account);
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

function ownShare(limit: number, { share }: LimitShare): number {
  return Math.max(1, Math.floor(limit * share));
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
  /** Rooms of its endpoints that this process has claimed. */
  claims = 0;
  readonly name: string;
  readonly #sharing: LimitShare;
  // Most accounts have one host: no map for these.
  #oneHost: HostUsage | undefined;
  #otherHosts: Map<string, HostUsage> | undefined;

  constructor(name: string, sharing: LimitShare) {
    this.name = name;
    this.#sharing = sharing;
  }

  /** This process's share of the account's limits at a host, from 0 to 1; the other deliverers have the rest. */
  get share(): number {
    return this.claims > 0 ? 1 : this.#sharing.share;
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

/** An endpoint as far as it matters for a slot. */
type SlotSeeker = {
  readonly account: AccountUsage;
  readonly hostUsage: HostUsage;
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
};

type Ring<K, V> = LinkedMap<K, LinkedEntry<K, V>>;
type AtHost<Endpoint> = Ring<Endpoint, undefined>;
type AtAccount<Endpoint> = Ring<HostUsage, AtHost<Endpoint>>;

/**
 * Endpoints of one class that wait for a slot: accounts take turns, within an account its hosts, and at a host its
 * endpoints.
 */
class SlotQueue<Endpoint extends SlotSeeker> {
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  readonly #accounts: Ring<AccountUsage, AtAccount<Endpoint>> = new LinkedMap();

  constructor(endpointClass: EndpointClass, isFirst: boolean) {
    this.endpointClass = endpointClass;
    this.isFirst = isFirst;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  /** The endpoint must not be there. */
  add(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    const accounts = this.#accounts;
    const { value: hosts } = accounts.get(account) ?? accounts.add(new LinkedEntry(account, new LinkedMap()));
    const { value: endpoints } = hosts.get(hostUsage) ?? hosts.add(new LinkedEntry(hostUsage, new LinkedMap()));
    endpoints.add(new LinkedEntry(endpoint, undefined));
  }

  delete(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    const hosts = this.#accounts.get(account)?.value;
    const endpoints = hosts?.get(hostUsage)?.value;
    endpoints?.delete(endpoint);
    if (endpoints?.size === 0) hosts?.delete(hostUsage);
    if (hosts?.size === 0) this.#accounts.delete(account);
  }

  /** Removes an endpoint whose turn it was: its account and its host go behind the others. */
  dequeue(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    this.delete(endpoint);
    this.#accounts.get(account)?.value.toEnd(hostUsage);
    this.#accounts.toEnd(account);
  }

  /**
   * The endpoint whose turn it is, among those that may begin. Few are passed over: only as many accounts and hosts can use
   * up their share as there are shares.
   */
  next(slots: Slots): Endpoint | undefined {
    if (this.isEmpty || slots.free(this.endpointClass) === 0) return undefined;
    for (const { key: account, value: hosts } of this.#accounts) {
      if (!slots.admits(this.endpointClass, account)) continue;
      for (const { key: hostUsage, value: endpoints } of hosts) {
        if (!hostUsage.admits(this.endpointClass, this.isFirst)) continue;
        for (const { key: endpoint } of endpoints) return endpoint;
      }
    }
    return undefined;
  }
}

/** The queue in which an endpoint waits, and since when. */
export type QueuePlace<Endpoint extends SlotSeeker> = { readonly queue: SlotQueue<Endpoint>; readonly since: number };

type Queueable<Endpoint extends SlotSeeker> = SlotSeeker & { place: QueuePlace<Endpoint> | undefined };

/** Endpoints that wait for a slot, by class. */
export class SlotQueues<Endpoint extends Queueable<Endpoint>> {
  readonly #queues = ENDPOINT_CLASSES.flatMap((each) => [
    new SlotQueue<Endpoint>(each, true),
    new SlotQueue<Endpoint>(each, false),
  ]);

  /** Puts an endpoint in the queue of its class, where it keeps the place that it has. */
  enqueue(endpoint: Endpoint, now: number): void {
    const { endpointClass, isFirst } = endpoint;
    const own = this.#queues.find((queue) => queue.endpointClass === endpointClass && queue.isFirst === isFirst);
    if (own === undefined || endpoint.place?.queue === own) return;
    leaveQueue(endpoint);
    own.add(endpoint);
    endpoint.place = { queue: own, since: now };
  }

  /** The endpoint that has waited longest, among those whose turn it is in their queue. */
  next(slots: Slots, endpointClass?: EndpointClass): Endpoint | undefined {
    let longest: Endpoint | undefined;
    let longestSince = Infinity;
    for (const queue of this.#queues) {
      const isAsked = endpointClass === undefined || queue.endpointClass === endpointClass;
      const endpoint = isAsked ? queue.next(slots) : undefined;
      const since = endpoint?.place?.since ?? Infinity;
      if (since >= longestSince) continue;
      longest = endpoint;
      longestSince = since;
    }
    return longest;
  }

  /** Removes and returns what `next` returns; its account and its host go behind the others. */
  dequeue(slots: Slots, endpointClass?: EndpointClass): Endpoint | undefined {
    const endpoint = this.next(slots, endpointClass);
    if (endpoint === undefined) return undefined;
    endpoint.place?.queue.dequeue(endpoint);
    endpoint.place = undefined;
    return endpoint;
  }
}

export function leaveQueue<Endpoint extends Queueable<Endpoint>>(endpoint: Endpoint): void {
  endpoint.place?.queue.delete(endpoint);
  endpoint.place = undefined;
}
