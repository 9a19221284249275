import { Counter } from 'prom-client';
import type { Clock } from '@waybell/runtime/clock';
import { Heap } from '@waybell/runtime/heap';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { CapacityNotifier, PAUSE_MS } from './capacity-notifier.ts';
import type { Admission, Demand, EndpointKey, RequestOrigin, WaitingOrigin } from './endpoint.ts';
import type { EndRequest, KnownEndpoint, RequestEnd, RunningRequest, WaiterInHand } from './known-endpoint.ts';
import {
  KnownEndpoints,
  type OtherDeliverers,
  type KnownEndpointsOptions,
  type PartialKey,
} from './known-endpoints.ts';
import { hostLimits, Slots, type Shares, leaveQueue, SlotQueues } from './slots.ts';

export type EndpointsOptions = Omit<KnownEndpointsOptions, 'startSize' | 'host' | 'others'> & {
  /** Requests under way at once, over all endpoints. */
  slots: number;
  shares: Shares;
  /** How long a delivery from a queue waits in hand for its endpoint. */
  maxWaitMs: number;
  /** How many such deliveries wait in hand at most, for one endpoint and over all. */
  maxInHandEach: number;
  maxInHand: number;
};

/** `end`: ends a request that was granted; an input. */
type EndpointsParts = { clock: Pick<Clock, 'now'>; end: EndRequest };

/** Deliveries in hand whose turn has come, or who wait no more. */
type ToldWaiter = { waiter: WaiterInHand; admission: Admission };

/**
 * Decides which delivery may make a request now, so that a hung endpoint holds up only its own deliveries. A state with inputs and
 * effects: nothing here waits, sets a timer or calls back. `Drain` carries out `effects` after each input, and comes again at
 * `nextAt`. See the picture in docs/decisions/0004-flow.md.
 */
export class Endpoints {
  /** The other deliverers, as last known. */
  readonly others: OtherDeliverers = { share: 1, hungSince: new Map() };
  /** Caused by inputs, and not carried out yet: answers to deliveries in hand, and rooms that have capacity. */
  readonly effects: { told: ToldWaiter[]; capacity: string[] } = { told: [], capacity: [] };
  readonly #options: EndpointsOptions & EndpointsParts;
  readonly #known: KnownEndpoints;
  readonly #slots: Slots;
  readonly #notifier: CapacityNotifier;
  /** Endpoints with deliveries in hand that wait for a slot. */
  readonly #slotQueues = new SlotQueues<KnownEndpoint>();
  /** All deliveries in hand that wait, and, in this order, when those from queues are asked whether they wait on. */
  readonly #waiters = new Set<WaiterInHand>();
  readonly #deadlines = new Map<WaiterInHand, number>();
  readonly #alarms = new Alarms<KnownEndpoint | OwnAlarm>();
  readonly #expiry: OwnAlarm = { alarmAt: Infinity, of: 'deadlines' };
  readonly #pause: OwnAlarm = { alarmAt: Infinity, of: 'pause' };
  readonly #full = { full: 0, hung: 0, busy: 0 };
  #isClosed = false;

  constructor(options: EndpointsOptions & EndpointsParts) {
    const { slots, shares } = options;
    this.#options = options;
    this.#slots = new Slots(slots, shares);
    this.#notifier = new CapacityNotifier(this.#slots);
    const startSize = this.#slots.startSize.bind(this.#slots);
    this.#known = new KnownEndpoints({ ...options, startSize, host: hostLimits(slots), others: this.others });
  }

  /** Input: a delivery asks. Returns the answer; undefined: it waits in hand, and is told later. */
  ask(key: EndpointKey, origin: RequestOrigin, onAdmitted: (admission: Admission) => void): Admission | undefined {
    const endpoint = this.#touch(key);
    if (origin === 'suspect' && endpoint.hungSince !== undefined) return this.#refuse(endpoint);
    const patient = origin === 'suspect' ? 'fresh' : origin;
    if (this.#isResting(endpoint) && isNew(patient)) return this.#refuse(endpoint);
    if (endpoint.waiting.count === 0 && this.#obstacle(endpoint) === undefined) return this.#grant(endpoint);
    if (!this.#mayWait(endpoint, patient)) return this.#refuse(endpoint);
    this.#wait({ endpoint, origin: patient, onAdmitted });
    this.#refresh(endpoint);
    this.#serve();
    return undefined;
  }

  /** Input: a request was answered, timed out, or was not made. */
  answered(request: RunningRequest, ended: Omit<RequestEnd, 'now'>): void {
    const { endpoint } = request;
    endpoint.end(request, { ...ended, now: this.#now });
    this.#slots.release(request, endpoint.account);
    if (this.#isResting(endpoint)) endpoint.waiting.fresh().forEach((waiter) => this.#dismiss(waiter));
    this.#check(endpoint);
  }

  /** Input: `nextAt` has come. */
  tick(): void {
    for (let due = this.#alarms.due(this.#now); due !== undefined; due = this.#alarms.due(this.#now)) {
      if (!('of' in due)) this.#check(due);
      else if (due.of === 'deadlines') this.#expire();
      else {
        this.#notifier.endPause();
        this.#serve();
      }
    }
  }

  /** When `tick` is to be called, by the clock. */
  get nextAt(): number {
    return this.#alarms.nextAt;
  }

  /** Input: lets the next request begin at once, after a subscribe, a changed URL or a success by hand. */
  probeSoon(name: string): void {
    const endpoint = this.#known.get(name);
    endpoint?.probeSoon();
    if (endpoint !== undefined) this.#check(endpoint);
  }

  /** Input: this process has claimed an endpoint's room. `hungSince`: as the last one that had it knew. */
  claimed(key: PartialKey, hungSince: number | undefined): void {
    // The last one that had the room knows better than what was read of all.
    if (hungSince === undefined) this.others.hungSince.delete(key.endpoint);
    const endpoint = this.#touch(key, true);
    endpoint.isClaimed = true;
    endpoint.account.claims += 1;
    if (hungSince !== undefined) endpoint.foundToHang(hungSince);
    this.#check(endpoint);
  }

  /** Input: it has lost or released it. */
  unclaimed(name: string): void {
    const endpoint = this.#known.get(name);
    if (!endpoint?.isClaimed) return;
    endpoint.isClaimed = false;
    endpoint.account.claims -= 1;
  }

  /** Input: a row is being put into this room, until `endPut` with what this returns. */
  beginPut(name: string): KnownEndpoint | undefined {
    const endpoint = this.#known.get(name);
    if (endpoint !== undefined) endpoint.beingPut += 1;
    return endpoint;
  }

  endPut(endpoint: KnownEndpoint | undefined): void {
    if (endpoint === undefined) return;
    endpoint.beingPut -= 1;
    if (endpoint.beingPut > 0 || !endpoint.gotCapacity) return;
    endpoint.gotCapacity = false;
    this.effects.capacity.push(endpoint.key);
  }

  /** Returns how many deliveries to take now out of a room. If none, its capacity is among the effects once there is some. */
  demand(key: PartialKey): Demand {
    const endpoint = this.#touch(key);
    const demand = this.#demandOf(endpoint);
    endpoint.awaitsCapacity = demand.rows === 0;
    this.#refresh(endpoint);
    // A probe in hand may be due by now: queued endpoints are not checked again.
    if (endpoint.place !== undefined) this.#serve();
    return demand;
  }

  /** How many hung endpoints could be probed now. */
  probeSlots(): number {
    return this.#slots.free('hung');
  }

  /** In milliseconds of the clock. */
  hungSince(name: string): number | undefined {
    return this.#known.get(name)?.hungSince;
  }

  isHung(name: string): boolean {
    return this.hungSince(name) !== undefined;
  }

  /** Refuses all that waits in hand, and from now on all that would wait. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiters) this.#dismiss(waiter);
  }

  figures() {
    return {
      slots: this.#slots.used(),
      inHand: this.#waiters.size,
      endpoints: this.#known.count,
      hung: this.#known.countHung(),
      full: { ...this.#full },
    };
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** The endpoint, made known if it is not. */
  #touch(key: PartialKey, isClaimed = false): KnownEndpoint {
    const endpoint = this.#known.touch(key, this.#now, isClaimed);
    if (this.#detectSilence(endpoint)) this.#check(endpoint);
    return endpoint;
  }

  /** Whether a request has become silent. */
  #detectSilence(endpoint: KnownEndpoint): boolean {
    const silent = endpoint.detectSilence(this.#now);
    for (const request of silent) this.#slots.fallSilent(request);
    return silent.length > 0;
  }

  /** Returns why no request may begin now: the endpoint's own limits, or a slot that others hold. */
  #obstacle(endpoint: KnownEndpoint): 'own limits' | 'slot' | undefined {
    if (!this.#mayBegin(endpoint)) return 'own limits';
    return this.#hasSlot(endpoint) ? undefined : 'slot';
  }

  #mayBegin(endpoint: KnownEndpoint): boolean {
    return endpoint.mayBegin(this.#now, this.#slots.isHungHalfFree());
  }

  #hasSlot(endpoint: KnownEndpoint): boolean {
    const { endpointClass, account, hostUsage, isFirst } = endpoint;
    const hasReserved = this.#notifier.hasReserved(endpoint);
    if (!this.#slots.admits(endpointClass, account, hasReserved) || !hostUsage.admits(endpointClass, isFirst))
      return false;
    if (endpointClass !== 'hung' || hasReserved) return true;
    // Probes wait for their slot in turn.
    return this.#slotQueues.next(this.#slots, 'hung') === undefined && this.#notifier.isInTurn(endpoint);
  }

  #mayWait(endpoint: KnownEndpoint, origin: WaitingOrigin): boolean {
    if (this.#isClosed) return false;
    if (origin === 'by hand') return true;
    if (endpoint.hungSince !== undefined) return false;
    if (origin === 'waited' || (endpoint.hasCapacityForAll && this.#lacksOnlySlots(endpoint))) return true;
    const { maxInHand, maxInHandEach, maxWaitMs } = this.#options;
    if (this.#deadlines.size >= maxInHand || endpoint.account.inHand >= maxInHandEach * ACCOUNT_TIMES) return false;
    const { waiting, window } = endpoint;
    // In its room a retry would rest with the others, though its schedule runs.
    const served = this.#isResting(endpoint) ? Infinity : window.servedWithin(maxWaitMs);
    return waiting.countOf('fresh') + waiting.countOf('retry') < Math.min(maxInHandEach, served);
  }

  /** Endpoints of better classes hold all slots: in its room a delivery would wait for the same slot, and further back. */
  #lacksOnlySlots({ endpointClass, account, hostUsage, isFirst }: KnownEndpoint): boolean {
    return this.#slots.lacksOnlySlots(endpointClass, account) && hostUsage.admits(endpointClass, isFirst);
  }

  #waitsOn({ endpoint, origin }: WaiterInHand): boolean {
    if (endpoint.hungSince !== undefined) return false;
    if (origin === 'retry' && this.#isResting(endpoint)) return true;
    return this.#obstacle(endpoint) === 'slot' && this.#lacksOnlySlots(endpoint);
  }

  #grant(endpoint: KnownEndpoint): Admission {
    this.#notifier.release(endpoint);
    const request = endpoint.begin(this.#now, this.#options.end);
    this.#slots.acquire(request.endpointClass, endpoint.account);
    this.#refresh(endpoint);
    return request;
  }

  #isResting({ restsUntil }: KnownEndpoint): boolean {
    return restsUntil > this.#now;
  }

  #refuse(endpoint: KnownEndpoint): Admission {
    const why = endpoint.hungSince !== undefined ? 'hung' : this.#isResting(endpoint) ? 'busy' : 'full';
    this.#full[why] += 1;
    endpoint.awaitsCapacity = true;
    endpoint.wasNotified = false;
    this.#placeInQueue(endpoint);
    return REFUSED[why];
  }

  #wait(waiter: WaiterInHand): void {
    this.#waiters.add(waiter);
    waiter.endpoint.addWaiter(waiter);
    if (waiter.origin !== 'fresh' && waiter.origin !== 'retry') return;
    waiter.endpoint.account.inHand += 1;
    this.#setDeadline(waiter);
  }

  #waitsNoMore(waiter: WaiterInHand): void {
    this.#waiters.delete(waiter);
    waiter.endpoint.waiting.delete(waiter);
    if (this.#deadlines.delete(waiter)) waiter.endpoint.account.inHand -= 1;
  }

  #setDeadline(waiter: WaiterInHand): void {
    const at = this.#now + this.#options.maxWaitMs;
    this.#deadlines.delete(waiter);
    this.#deadlines.set(waiter, at);
    this.#alarms.set(this.#expiry, at);
  }

  /** Asks those whose deadline has come whether they wait for as long again. */
  #expire(): void {
    for (const [waiter, deadline] of this.#deadlines) {
      if (deadline > this.#now) return this.#alarms.set(this.#expiry, deadline);
      if (this.#waitsOn(waiter)) this.#setDeadline(waiter);
      else this.#dismiss(waiter);
    }
  }

  /** Keeps one that waited in the room as the next probe, unless probes wait in turn: it would hold memory that others need. */
  #dismissWaited({ waiting }: KnownEndpoint): void {
    const areAll = !this.#slots.isHungHalfFree();
    for (const waiter of waiting.waited({ areAll })) this.#dismiss(waiter);
  }

  #dismiss(waiter: WaiterInHand): void {
    this.#waitsNoMore(waiter);
    this.effects.told.push({ waiter, admission: this.#refuse(waiter.endpoint) });
  }

  /** Applies what happened to the endpoint to all that wait, for it or for others. */
  #check(endpoint: KnownEndpoint): void {
    this.#detectSilence(endpoint);
    if (endpoint.hungSince !== undefined) this.#dismissWaited(endpoint);
    this.#refresh(endpoint);
    this.#serve();
  }

  /** Gives free slots to rooms and to waiters. */
  #serve(): void {
    for (let room = this.#notifier.next(); room !== undefined; room = this.#notifier.next()) {
      this.#notify(room);
      this.#alarms.set(this.#pause, this.#now + PAUSE_MS);
    }
    let endpoint = this.#slotQueues.dequeue(this.#slots);
    for (; endpoint !== undefined; endpoint = this.#slotQueues.dequeue(this.#slots)) {
      const waiter = this.#mayBegin(endpoint) ? endpoint.waiting.next() : undefined;
      if (waiter === undefined) {
        this.#refresh(endpoint);
        continue;
      }
      this.#waitsNoMore(waiter);
      this.effects.told.push({ waiter, admission: this.#grant(endpoint) });
    }
  }

  #notify(endpoint: KnownEndpoint): void {
    endpoint.awaitsCapacity = false;
    endpoint.wasNotified = true;
    // A read would miss the rows that are being put.
    if (endpoint.beingPut > 0) endpoint.gotCapacity = true;
    else this.effects.capacity.push(endpoint.key);
  }

  /** Notifies of capacity if that is awaited, puts the endpoint in the queue that it belongs to, and sets its alarm. */
  #refresh(endpoint: KnownEndpoint): void {
    if (endpoint.awaitsCapacity && this.#demandOf(endpoint).rows > 0) this.#notify(endpoint);
    this.#placeInQueue(endpoint);
  }

  #placeInQueue(endpoint: KnownEndpoint): void {
    const now = this.#now;
    if (endpoint.waiting.count > 0 && this.#mayBegin(endpoint)) this.#slotQueues.enqueue(endpoint, now);
    else if (endpoint.awaitsCapacity && this.#demandOf(endpoint).lacksSlot) this.#notifier.enqueue(endpoint, now);
    else leaveQueue(endpoint);
    this.#alarms.set(endpoint, endpoint.nextCheckAt(now));
  }

  #demandOf(endpoint: KnownEndpoint): Demand {
    const maySeveralProbe = this.#slots.isHungHalfFree();
    return demandOf(endpoint, { now: this.#now, maySeveralProbe, hasSlot: (each) => this.#hasSlot(each) });
  }
}

const REFUSED = {
  full: { kind: 'full', why: 'full' },
  hung: { kind: 'full', why: 'hung' },
  busy: { kind: 'full', why: 'busy' },
} as const satisfies Record<string, Admission>;

/** Whether the delivery had no attempt yet, as far as is known here. */
function isNew(origin: WaitingOrigin): boolean {
  return origin === 'fresh' || origin === 'waited';
}

const MOST_ROWS = 64;

type DemandOptions = { now: number; maySeveralProbe: boolean; hasSlot: (endpoint: KnownEndpoint) => boolean };

/**
 * Returns how many deliveries an endpoint can take now out of its room: up to twice its window together with those in hand, one
 * while it is hung, none while it rests.
 */
function demandOf(endpoint: KnownEndpoint, { now, maySeveralProbe, hasSlot }: DemandOptions): Demand {
  const { window, waiting, hungSince, restsUntil } = endpoint;
  if (restsUntil > now) return { rows: 0, askAt: restsUntil };
  const inHand = waiting.countOf('waited');
  if (inHand >= (hungSince === undefined ? window.size : 1)) return { rows: 0 };
  if (hungSince !== undefined && !endpoint.mayBegin(now, maySeveralProbe)) {
    return { rows: 0, askAt: endpoint.askForProbeAt(now) };
  }
  if (!hasSlot(endpoint)) return { rows: 0, lacksSlot: true };
  return { rows: hungSince === undefined ? Math.min(2 * window.size - inHand, MOST_ROWS) : 1 };
}

/** Limit of waiters for one account, as a multiple of the limit for one endpoint. */
const ACCOUNT_TIMES = 2;

type Alarmed = { alarmAt: number };
type OwnAlarm = Alarmed & { readonly of: 'deadlines' | 'pause' };

/** When each has to be looked at again: one heap, as there may be 100,000. An alarm may come too early, never too late. */
class Alarms<T extends Alarmed> {
  readonly #heap = new Heap<{ readonly at: number; readonly alarmed: T }>((one, other) => one.at < other.at);

  get nextAt(): number {
    return this.#first?.at ?? Infinity;
  }

  /** Has `due` return it then, or earlier if that was set before; Infinity: not at all. */
  set(alarmed: T, at: number): void {
    if (at !== Infinity && alarmed.alarmAt <= at) return;
    alarmed.alarmAt = at;
    if (at !== Infinity) this.#heap.push({ at, alarmed });
  }

  /** Removes and returns one whose time has come. */
  due(now: number): T | undefined {
    const first = this.#first;
    if (first === undefined || first.at > now) return undefined;
    this.#heap.pop();
    first.alarmed.alarmAt = Infinity;
    return first.alarmed;
  }

  /** Without those that were taken back, or set earlier since. */
  get #first(): { readonly at: number; readonly alarmed: T } | undefined {
    for (let { first } = this.#heap; first !== undefined; { first } = this.#heap) {
      if (first.at === first.alarmed.alarmAt) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

/** Metrics of endpoints, read when scraped. Not by endpoint: there may be any number. */
export function watchEndpoints(endpoints: Pick<Endpoints, 'figures'>, metrics: Metrics): void {
  const gauge = (name: string, help: string, value: () => number) =>
    gaugeOnDemand(metrics, { name, help }, () => [{ value: value() }]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_endpoint_slots_used',
      help: 'Requests under way, by trust when they began: quick, slow, hung, new',
      labelNames: ['trust'],
    },
    () => Object.entries(endpoints.figures().slots).map(([trust, value]) => ({ labels: { trust }, value })),
  );
  gauge(
    'waybell_endpoint_in_hand',
    'Deliveries in hand that wait for their endpoint',
    () => endpoints.figures().inHand,
  );
  gauge('waybell_endpoint_known', 'Endpoints that are remembered', () => endpoints.figures().endpoints);
  gauge('waybell_endpoint_hung', 'Endpoints that hang', () => endpoints.figures().hung);
  metrics.registerMetric(
    new Counter({
      name: 'waybell_endpoint_full_total',
      help: 'Deliveries without room at their endpoint, by why',
      labelNames: ['why'],
      registers: [],
      collect() {
        this.reset();
        for (const [why, times] of Object.entries(endpoints.figures().full)) this.inc({ why }, times);
      },
    }),
  );
}
