import type { Clock } from '@waybell/runtime/clock';
import { hostLimits } from './account.ts';
import type { EndpointKey, Entry, PatientWish, Room, Wish } from './endpoint.ts';
import { ACCOUNT_TIMES, InHand } from './in-hand.ts';
import type { Ended, KnownEndpoint, Request } from './known-endpoint.ts';
import { KnownEndpoints, type KnownEndpointsOptions } from './known-endpoints.ts';
import { Lines } from './line.ts';
import { roomOf } from './room.ts';
import { Slots, type Shares } from './slots.ts';
import type { Waiter } from './waiting.ts';
import { Words } from './words.ts';

export type EndpointsOptions = Omit<KnownEndpointsOptions, 'startSize' | 'host' | 'partOf'> & {
  /** Requests under way at once, over all endpoints. */
  slots: number;
  shares: Shares;
  /** How long a delivery from a queue waits in hand for its endpoint. */
  patienceMs: number;
  /** Such deliveries that wait so at most, for one endpoint and over all. */
  maxInHandEach: number;
  maxInHand: number;
};

type Surroundings = { clock: Clock; onRoom?: (endpoint: string) => void } & Partial<
  Pick<KnownEndpointsOptions, 'partOf'>
>;

/**
 * Says which delivery may make a request now, so that none waits behind an endpoint that hangs but those for that endpoint
 * itself. See docs/decisions/0004-flow.md.
 */
export class Endpoints {
  readonly #options: EndpointsOptions & { clock: Clock };
  readonly #known: KnownEndpoints;
  readonly #slots: Slots;
  readonly #inHand: InHand;
  /** Endpoints with deliveries in hand, for which others hold the place. */
  readonly #lines = new Lines();
  readonly #words: Words;
  readonly #full = { full: 0, hung: 0, busy: 0 };
  #isClosed = false;

  constructor({ onRoom, partOf = () => 1, ...options }: EndpointsOptions & Surroundings) {
    const { clock, patienceMs, slots, shares } = options;
    this.#options = options;
    this.#slots = new Slots(slots, shares);
    const startSize = this.#slots.startSize.bind(this.#slots);
    this.#known = new KnownEndpoints({ ...options, startSize, partOf, host: hostLimits(slots) });
    this.#inHand = new InHand({ clock, patienceMs, onExpired: (waiter) => this.#waitsOn(waiter) });
    this.#words = new Words({
      clock,
      slots: this.#slots,
      onRoom: onRoom ?? (() => undefined),
      onUnused: () => this.#serve(),
    });
  }

  async enter(key: EndpointKey, wish: Wish): Promise<Entry> {
    const endpoint = this.#touch(key);
    if (wish === 'suspect')
      return endpoint.hungSince === undefined ? this.enter(key, 'fresh') : this.#tellFull(endpoint);
    if (this.#isResting(endpoint) && isNew(wish)) return this.#tellFull(endpoint);
    if (endpoint.waiting.count === 0 && this.#lack(endpoint) === undefined) return this.#grant(endpoint);
    if (this.#mayWait(endpoint, wish)) return this.#wait(endpoint, wish);
    return this.#tellFull(endpoint);
  }

  /**
   * For the owner of parked deliveries: how many it should bring into hand now, and when to ask again, where no word
   * comes before. Counts those that wait in hand already.
   */
  room(key: Omit<EndpointKey, 'host'>): Room {
    const endpoint = this.#touch(key);
    const roomOrLack = this.#roomOf(endpoint);
    const room = roomOrLack === 'place' ? { rows: 0 } : roomOrLack;
    endpoint.isOwedWord = room.rows === 0;
    this.#settle(endpoint);
    return room;
  }

  /** A subscribe, a changed URL or a success by hand: the next request may begin at once. */
  probeSoon(name: string): void {
    const endpoint = this.#known.get(name);
    endpoint?.probeSoon();
    if (endpoint !== undefined) this.#look(endpoint);
  }

  isHung(name: string): boolean {
    return this.hungSince(name) !== undefined;
  }

  /** In milliseconds of the clock. */
  hungSince(name: string): number | undefined {
    return this.#known.get(name)?.hungSince;
  }

  /** From now on nothing waits in hand. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#inHand) this.#dismiss(waiter);
  }

  figures() {
    return {
      slots: this.#slots.held(),
      inHand: this.#inHand.count,
      endpoints: this.#known.count,
      hung: this.#known.countHung(),
      full: { ...this.#full },
    };
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  #touch(key: Omit<EndpointKey, 'host'> & { host?: string }): KnownEndpoint {
    const endpoint = this.#known.touch(key, this.#now);
    if (this.#listen(endpoint)) this.#look(endpoint);
    return endpoint;
  }

  /** Whether something of it has fallen silent. */
  #listen(endpoint: KnownEndpoint): boolean {
    const silent = endpoint.listen(this.#now);
    for (const request of silent) this.#slots.fallSilent(request);
    return silent.length > 0;
  }

  /** Why none may begin now: something of its own, or a place that others hold. */
  #lack(endpoint: KnownEndpoint): 'own' | 'place' | undefined {
    if (!this.#mayBegin(endpoint)) return 'own';
    return this.#hasPlace(endpoint) ? undefined : 'place';
  }

  #mayBegin(endpoint: KnownEndpoint): boolean {
    return endpoint.mayBegin(this.#now, this.#slots.isHungHalfFree());
  }

  #hasPlace(endpoint: KnownEndpoint): boolean {
    const { trust, account, neighbours, isFirst } = endpoint;
    if (!this.#slots.admits(trust, account) || !neighbours.admits(trust, isFirst)) return false;
    if (trust !== 'hung') return true;
    // Probes wait for their place in turn.
    return this.#lines.next(this.#slots, 'hung') === undefined && this.#words.isInTurn(endpoint);
  }

  #mayWait(endpoint: KnownEndpoint, wish: PatientWish): boolean {
    if (this.#isClosed) return false;
    if (wish === 'by hand') return true;
    if (endpoint.hungSince !== undefined) return false;
    if (wish === 'parked' || (endpoint.hasRoomForAll && this.#lacksOnlySlots(endpoint))) return true;
    const { maxInHand, maxInHandEach, patienceMs } = this.#options;
    if (this.#inHand.countFresh >= maxInHand || endpoint.account.inHand >= maxInHandEach * ACCOUNT_TIMES) return false;
    const { waiting, window } = endpoint;
    // A retry that is parked would rest with the others, though its schedule runs.
    const served = this.#isResting(endpoint) ? Infinity : window.servedWithin(patienceMs);
    return waiting.countOf('fresh') + waiting.countOf('retry') < Math.min(maxInHandEach, served);
  }

  #wait(endpoint: KnownEndpoint, wish: PatientWish): Promise<Entry> {
    return new Promise((resolve) => {
      this.#inHand.add({ endpoint, wish, resolve });
      this.#settle(endpoint);
      this.#serve();
    });
  }

  /** All slots are taken by other trusted endpoints: parked it would wait for the same slot, and further back. */
  #lacksOnlySlots({ trust, account, neighbours, isFirst }: KnownEndpoint): boolean {
    return this.#slots.lacksOnlySlots(trust, account) && neighbours.admits(trust, isFirst);
  }

  #waitsOn(waiter: Waiter): boolean {
    const { endpoint, wish } = waiter;
    if (wish === 'retry' && this.#isResting(endpoint) && endpoint.hungSince === undefined) return true;
    const lacksPlace = endpoint.hungSince === undefined && this.#lack(endpoint) === 'place';
    if (lacksPlace && this.#lacksOnlySlots(endpoint)) return true;
    this.#dismiss(waiter);
    return false;
  }

  #grant(endpoint: KnownEndpoint): Entry {
    const request = endpoint.begin(this.#now);
    this.#slots.take(request.trust, endpoint.account);
    this.#settle(endpoint);
    return {
      kind: 'granted',
      end: (ending, tooMuch) => this.#end(endpoint, request, { ending, tooMuch, now: this.#now }),
    };
  }

  #end(endpoint: KnownEndpoint, request: Request, ended: Ended): void {
    endpoint.end(request, ended);
    this.#slots.giveBack(request, endpoint.account);
    if (this.#isResting(endpoint)) endpoint.waiting.fresh().forEach((waiter) => this.#dismiss(waiter));
    this.#look(endpoint);
  }

  #isResting({ restsUntil }: KnownEndpoint): boolean {
    return restsUntil > this.#now;
  }

  #tellFull(endpoint: KnownEndpoint): Entry {
    const why = endpoint.hungSince !== undefined ? 'hung' : this.#isResting(endpoint) ? 'busy' : 'full';
    this.#full[why] += 1;
    endpoint.isOwedWord = true;
    endpoint.isCalled = false;
    this.#stand(endpoint);
    return { kind: 'full', why };
  }

  /** One may stay to be the next probe, but where probes wait in turn: it would hold what others need in hand. */
  #dismissParked({ waiting }: KnownEndpoint): void {
    const areAll = !this.#slots.isHungHalfFree();
    for (const waiter of waiting.parked({ areAll })) this.#dismiss(waiter);
  }

  #dismiss(waiter: Waiter): void {
    this.#inHand.remove(waiter);
    waiter.resolve(this.#tellFull(waiter.endpoint));
  }

  /** Something happened to the endpoint that may concern those that wait, for it or for others. */
  #look(endpoint: KnownEndpoint): void {
    this.#listen(endpoint);
    if (endpoint.hungSince !== undefined) this.#dismissParked(endpoint);
    this.#settle(endpoint);
    this.#serve();
  }

  /** Hands places on that are free. */
  #serve(): void {
    this.#words.say();
    let endpoint = this.#lines.next(this.#slots);
    for (; endpoint !== undefined; endpoint = this.#lines.next(this.#slots)) {
      endpoint.line?.turn(endpoint);
      endpoint.line = undefined;
      const waiter = this.#mayBegin(endpoint) ? endpoint.waiting.next() : undefined;
      if (waiter !== undefined) this.#inHand.remove(waiter);
      if (waiter === undefined) this.#settle(endpoint);
      else waiter.resolve(this.#grant(endpoint));
    }
  }

  /** Says that there is room to the owner that waits for that word, and has the endpoint stand where it belongs. */
  #settle(endpoint: KnownEndpoint): void {
    if (endpoint.isOwedWord) {
      const room = this.#roomOf(endpoint);
      if (room !== 'place' && room.rows > 0) this.#words.tell(endpoint);
    }
    this.#stand(endpoint);
  }

  #stand(endpoint: KnownEndpoint): void {
    if (endpoint.waiting.count > 0 && this.#mayBegin(endpoint)) this.#lines.stand(endpoint, this.#now);
    else if (endpoint.isOwedWord && this.#roomOf(endpoint) === 'place') this.#words.stand(endpoint);
    else {
      endpoint.line?.delete(endpoint);
      endpoint.line = undefined;
    }
    endpoint.lookLater(this.#options.clock, () => this.#look(endpoint));
  }

  #roomOf(endpoint: KnownEndpoint): Room | 'place' {
    const maySeveralProbe = this.#slots.isHungHalfFree();
    return roomOf(endpoint, { now: this.#now, maySeveralProbe, hasPlace: (each) => this.#hasPlace(each) });
  }
}

/** Whether it is, as far as is known here, of a delivery without an attempt. */
function isNew(wish: PatientWish): boolean {
  return wish === 'fresh' || wish === 'parked';
}
