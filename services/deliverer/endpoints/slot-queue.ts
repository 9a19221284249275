import type { AccountUsage, HostUsage } from './account-usage.ts';
import { LinkedEntry, LinkedMap } from './linked-map.ts';
import { ENDPOINT_CLASSES, type EndpointClass, type Slots } from './slots.ts';

/** An endpoint as far as it matters for a slot. */
export type SlotSeeker = {
  readonly account: AccountUsage;
  readonly hostUsage: HostUsage;
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
};

type Ring<K, V> = LinkedMap<K, LinkedEntry<K, V>>;
type AtHost<Endpoint> = Ring<Endpoint, undefined>;
type AccountTurns<Endpoint> = Ring<HostUsage, AtHost<Endpoint>>;

/**
 * Endpoints of one class that wait for a slot: accounts take turns, within an account its hosts, and at a host its
 * endpoints.
 */
export class SlotQueue<Endpoint extends SlotSeeker> {
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  readonly #accounts: Ring<AccountUsage, AccountTurns<Endpoint>> = new LinkedMap();

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
  take(slots: Slots, endpointClass?: EndpointClass): Endpoint | undefined {
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
