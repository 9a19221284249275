import type { AccountUsage, HostUsage } from './account-usage.ts';
import { LinkedMap } from './linked-map.ts';
import { ENDPOINT_CLASSES, type EndpointClass, type Slots } from './slots.ts';

/** An endpoint as far as it matters for a slot. */
export type SlotSeeker = {
  readonly account: AccountUsage;
  readonly hostUsage: HostUsage;
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
};

/**
 * Endpoints of one class that wait for a slot: accounts take turns, within an account its hosts, and at a host its
 * endpoints.
 */
export class SlotQueue<Endpoint extends SlotSeeker> {
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  readonly #accounts = new LinkedMap<AccountUsage, LinkedMap<HostUsage, LinkedMap<Endpoint, Endpoint>>>();

  constructor(endpointClass: EndpointClass, isFirst: boolean) {
    this.endpointClass = endpointClass;
    this.isFirst = isFirst;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  add(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    const hosts = this.#accounts.get(account) ?? new LinkedMap<HostUsage, LinkedMap<Endpoint, Endpoint>>();
    const endpoints = hosts.get(hostUsage) ?? new LinkedMap<Endpoint, Endpoint>();
    this.#accounts.set(account, hosts.set(hostUsage, endpoints.set(endpoint, endpoint)));
  }

  delete(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    const hosts = this.#accounts.get(account);
    const endpoints = hosts?.get(hostUsage);
    endpoints?.delete(endpoint);
    if (endpoints?.size === 0) hosts?.delete(hostUsage);
    if (hosts?.size === 0) this.#accounts.delete(account);
  }

  /** Removes an endpoint whose turn it was: its account and its host go behind the others. */
  dequeue(endpoint: Endpoint): void {
    const { account, hostUsage } = endpoint;
    this.delete(endpoint);
    this.#accounts.get(account)?.toEnd(hostUsage);
    this.#accounts.toEnd(account);
  }

  /**
   * The endpoint whose turn it is, among those that may begin. Few are passed over: only as many accounts and hosts can use
   * up their share as there are shares.
   */
  next(slots: Slots): Endpoint | undefined {
    if (this.isEmpty || slots.free(this.endpointClass) === 0) return undefined;
    for (const [account, hosts] of this.#accounts) {
      if (!slots.admits(this.endpointClass, account)) continue;
      for (const [hostUsage, endpoints] of hosts) {
        if (!hostUsage.admits(this.endpointClass, this.isFirst)) continue;
        for (const [endpoint] of endpoints) return endpoint;
      }
    }
    return undefined;
  }
}

/** An endpoint that knows the queue in which it waits, and since when. */
type Queueable<Endpoint extends SlotSeeker> = SlotSeeker & {
  queue: SlotQueue<Endpoint> | undefined;
  queuedAt: number;
};

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
    if (endpoint.queue === own) return;
    endpoint.queue?.delete(endpoint);
    own?.add(endpoint);
    endpoint.queue = own;
    endpoint.queuedAt = now;
  }

  /** The endpoint that has waited longest, among those whose turn it is in their queue. */
  next(slots: Slots, endpointClass?: EndpointClass): Endpoint | undefined {
    let longest: Endpoint | undefined;
    for (const queue of this.#queues) {
      const isAsked = endpointClass === undefined || queue.endpointClass === endpointClass;
      const endpoint = isAsked ? queue.next(slots) : undefined;
      if (endpoint === undefined) continue;
      if (longest === undefined || endpoint.queuedAt < longest.queuedAt) longest = endpoint;
    }
    return longest;
  }

  /** Removes and returns what `next` returns; its account and its host go behind the others. */
  take(slots: Slots, endpointClass?: EndpointClass): Endpoint | undefined {
    const endpoint = this.next(slots, endpointClass);
    if (endpoint === undefined) return undefined;
    endpoint.queue?.dequeue(endpoint);
    endpoint.queue = undefined;
    return endpoint;
  }
}
