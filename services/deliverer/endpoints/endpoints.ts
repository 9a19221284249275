import { Counter } from 'prom-client';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { CapacityNotifier } from './capacity-notifier.ts';
import type { Admission, Admit, Demand, EndpointKey, WaitingOrigin } from './endpoint.ts';
import type { KnownEndpoint, RequestEnd, RunningRequest, WaiterInHand } from './known-endpoint.ts';
import { ALONE, KnownEndpoints, type OtherDeliverers, type KnownEndpointsOptions } from './known-endpoints.ts';
import { hostLimits, Slots, type Shares, leaveQueue, SlotQueues } from './slots.ts';

export type EndpointsOptions = Omit<KnownEndpointsOptions, 'startSize' | 'host' | keyof OtherDeliverers> & {
  /** Requests under way at once, over all endpoints. */
  slots: number;
  shares: Shares;
  /** How long a delivery from a queue waits in hand for its endpoint. */
  maxWaitMs: number;
  /** How many such deliveries wait in hand at most, for one endpoint and over all. */
  maxInHandEach: number;
  maxInHand: number;
};

/** `onCapacity`: called when an endpoint can take deliveries that it refused, or for which `demand` returned none. */
type EndpointsHooks = { clock: Clock; onCapacity?: (endpoint: string) => void } & Partial<OtherDeliverers>;

/**
 * Decides which delivery may make a request now, so that a hung endpoint holds up only its own deliveries. Nothing here waits or does
 * input and output: each call decides at once, and what it changes for others is served before it returns. See
 * docs/decisions/0004-flow.md.
 *
 * Who has what, and who calls whom:
 *
 *   the step's handler ── admit(key, origin, onAdmitted) ──▶ Endpoints ──▶ onAdmitted: granted, or full, hung, busy
 *   a granted request ─── end(speed), tooMuch ─────────────▶    │        (how long a 429 keeps others away: `Rest`)
 *   Drain's reader ────── demand(key) ─────────────────────▶    │        (rows for a room; with none, `awaitsCapacity` is set)
 *   Drain ───── probeSlots, probeSoon, hungSince, isHung ──▶    │
 *   an endpoint's timer ─ #check ──────────────────────────▶    │        (silent request, probe due, end of a rest)
 *                                                               │ has
 *      ┌──────────────────┬──────────────────┬──────────────────┼──────────────────────┐
 *      ▼                  ▼                  ▼                  ▼                      ▼
 *   KnownEndpoints     Slots             SlotQueues       WaitersInHand         CapacityNotifier
 *   each endpoint's    all requests      endpoints with   all waiters, with     rooms that lack a slot, in queues;
 *   window, requests   under way, by     waiters that     the deadlines of      slots reserved for probes
 *   and waiters        class             lack a slot      those from queues        │
 *                                                                                  │ onCapacity(endpoint), in a microtask
 *                                                                                  ▼
 *                         PutDeliveries: rows of it are being put ──▶ once they are put ──▶ Drain: reads its room, or claims it
 *                                        no rows are being put ────────────────────────────▶
 *
 * `onAdmitted` is called within `admit` if that decides, else in a microtask of its own; `onCapacity` always in one: both may call
 * `admit`, `demand` or `end` again.
 */
export class Endpoints {
  readonly #options: EndpointsOptions & { clock: Clock };
  readonly #known: KnownEndpoints;
  readonly #slots: Slots;
  readonly #inHand: WaitersInHand;
  /** Endpoints with deliveries in hand that wait for a slot. */
  readonly #slotQueues = new SlotQueues<KnownEndpoint>();
  readonly #notifier: CapacityNotifier;
  readonly #full = { full: 0, hung: 0, busy: 0 };
  #isClosed = false;

  constructor({ onCapacity, ...options }: EndpointsOptions & EndpointsHooks) {
    const { clock, maxWaitMs, slots, shares } = options;
    this.#options = options;
    this.#slots = new Slots(slots, shares);
    const startSize = this.#slots.startSize.bind(this.#slots);
    this.#known = new KnownEndpoints({ ...ALONE, ...options, startSize, host: hostLimits(slots) });
    this.#inHand = new WaitersInHand({ clock, maxWaitMs, onExpired: (waiter) => this.#waitsOn(waiter) });
    this.#notifier = new CapacityNotifier({
      clock,
      slots: this.#slots,
      onCapacity: onCapacity ?? (() => undefined),
      onUnused: () => this.#serve(),
    });
  }

  readonly admit: Admit = (key, origin, onAdmitted) => {
    const endpoint = this.#touch(key);
    if (origin === 'suspect' && endpoint.hungSince !== undefined) return onAdmitted(this.#refuse(endpoint));
    const patient = origin === 'suspect' ? 'fresh' : origin;
    if (this.#isResting(endpoint) && isNew(patient)) return onAdmitted(this.#refuse(endpoint));
    if (endpoint.waiting.count === 0 && this.#obstacle(endpoint) === undefined)
      return onAdmitted(this.#grant(endpoint));
    if (!this.#mayWait(endpoint, patient)) return onAdmitted(this.#refuse(endpoint));
    this.#inHand.add({ endpoint, origin: patient, onAdmitted });
    this.#refresh(endpoint);
    this.#serve();
  };

  /** Returns how many deliveries to take now out of an endpoint's room; if none, `onCapacity` is called once it can take some. */
  demand(key: Omit<EndpointKey, 'host'>): Demand {
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

  /** Lets the next request begin at once: after a subscribe, a changed URL or a success by hand. */
  probeSoon(name: string): void {
    const endpoint = this.#known.get(name);
    endpoint?.probeSoon();
    if (endpoint !== undefined) this.#check(endpoint);
  }

  isHung(name: string): boolean {
    return this.hungSince(name) !== undefined;
  }

  /** In milliseconds of the clock. */
  hungSince(name: string): number | undefined {
    return this.#known.get(name)?.hungSince;
  }

  /** Refuses all that waits in hand, and from now on all that would wait. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#inHand) this.#dismiss(waiter);
  }

  figures() {
    return {
      slots: this.#slots.used(),
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
    if (this.#inHand.countFresh >= maxInHand || endpoint.account.inHand >= maxInHandEach * ACCOUNT_TIMES) return false;
    const { waiting, window } = endpoint;
    // In its room a retry would rest with the others, though its schedule runs.
    const served = this.#isResting(endpoint) ? Infinity : window.servedWithin(maxWaitMs);
    return waiting.countOf('fresh') + waiting.countOf('retry') < Math.min(maxInHandEach, served);
  }

  /** Endpoints of better classes hold all slots: in its room a delivery would wait for the same slot, and further back. */
  #lacksOnlySlots({ endpointClass, account, hostUsage, isFirst }: KnownEndpoint): boolean {
    return this.#slots.lacksOnlySlots(endpointClass, account) && hostUsage.admits(endpointClass, isFirst);
  }

  #waitsOn(waiter: WaiterInHand): boolean {
    const { endpoint, origin } = waiter;
    if (origin === 'retry' && this.#isResting(endpoint) && endpoint.hungSince === undefined) return true;
    const lacksSlot = endpoint.hungSince === undefined && this.#obstacle(endpoint) === 'slot';
    if (lacksSlot && this.#lacksOnlySlots(endpoint)) return true;
    this.#dismiss(waiter);
    return false;
  }

  #grant(endpoint: KnownEndpoint): Admission {
    this.#notifier.release(endpoint);
    const request = endpoint.begin(this.#now, this.#end);
    this.#slots.acquire(request.endpointClass, endpoint.account);
    this.#refresh(endpoint);
    return request;
  }

  readonly #end = (request: RunningRequest, ended: Omit<RequestEnd, 'now'>): void => {
    const { endpoint } = request;
    endpoint.end(request, { ...ended, now: this.#now });
    this.#slots.release(request, endpoint.account);
    if (this.#isResting(endpoint)) endpoint.waiting.fresh().forEach((waiter) => this.#dismiss(waiter));
    this.#check(endpoint);
  };

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

  /** Keeps one that waited in the room as the next probe, unless probes wait in turn: it would hold memory that others need. */
  #dismissWaited({ waiting }: KnownEndpoint): void {
    const areAll = !this.#slots.isHungHalfFree();
    for (const waiter of waiting.waited({ areAll })) this.#dismiss(waiter);
  }

  #dismiss(waiter: WaiterInHand): void {
    this.#inHand.remove(waiter);
    answer(waiter, this.#refuse(waiter.endpoint));
  }

  /** Applies what happened to the endpoint to all that wait, for it or for others. */
  readonly #check = (endpoint: KnownEndpoint): void => {
    this.#detectSilence(endpoint);
    if (endpoint.hungSince !== undefined) this.#dismissWaited(endpoint);
    this.#refresh(endpoint);
    this.#serve();
  };

  /** Gives free slots to rooms and to waiters. */
  #serve(): void {
    this.#notifier.notify();
    let endpoint = this.#slotQueues.dequeue(this.#slots);
    for (; endpoint !== undefined; endpoint = this.#slotQueues.dequeue(this.#slots)) {
      const waiter = this.#mayBegin(endpoint) ? endpoint.waiting.next() : undefined;
      if (waiter !== undefined) this.#inHand.remove(waiter);
      if (waiter === undefined) this.#refresh(endpoint);
      else answer(waiter, this.#grant(endpoint));
    }
  }

  /** Notifies of capacity if that is awaited, and puts the endpoint in the queue that it belongs to. */
  #refresh(endpoint: KnownEndpoint): void {
    if (endpoint.awaitsCapacity && this.#demandOf(endpoint).rows > 0) this.#notifier.notifyCapacity(endpoint);
    this.#placeInQueue(endpoint);
  }

  #placeInQueue(endpoint: KnownEndpoint): void {
    if (endpoint.waiting.count > 0 && this.#mayBegin(endpoint)) this.#slotQueues.enqueue(endpoint, this.#now);
    else if (endpoint.awaitsCapacity && this.#demandOf(endpoint).lacksSlot) this.#notifier.enqueue(endpoint);
    else leaveQueue(endpoint);
    endpoint.scheduleCheck(this.#options.clock, this.#check);
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

/** In a microtask: the waiter may ask, or end a request, at once. */
function answer({ onAdmitted }: WaiterInHand, admission: Admission): void {
  queueMicrotask(() => onAdmitted(admission));
}

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

type WaitersInHandOptions = {
  clock: Clock;
  /** How long a delivery from a queue waits, before it is asked whether it waits on. */
  maxWaitMs: number;
  /** Returns whether the waiter waits for as long again; if not, it has been removed. */
  onExpired: (waiter: WaiterInHand) => boolean;
};

/** Limit of waiters for one account, as a multiple of the limit for one endpoint. */
const ACCOUNT_TIMES = 2;

/** All deliveries that wait in hand, with the deadlines of those from queues. */
class WaitersInHand {
  readonly #options: WaitersInHandOptions;
  readonly #all = new Set<WaiterInHand>();
  /** Waiters from queues, in the order of their deadlines. */
  readonly #deadlines = new Map<WaiterInHand, number>();
  #timer: Timer | undefined;

  constructor(options: WaitersInHandOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all.size;
  }

  get countFresh(): number {
    return this.#deadlines.size;
  }

  [Symbol.iterator](): Iterator<WaiterInHand> {
    return this.#all.values();
  }

  add(waiter: WaiterInHand): void {
    this.#all.add(waiter);
    waiter.endpoint.addWaiter(waiter);
    if (waiter.origin !== 'fresh' && waiter.origin !== 'retry') return;
    waiter.endpoint.account.inHand += 1;
    this.#setDeadline(waiter);
  }

  remove(waiter: WaiterInHand): void {
    this.#all.delete(waiter);
    waiter.endpoint.waiting.delete(waiter);
    if (this.#deadlines.delete(waiter)) waiter.endpoint.account.inHand -= 1;
    if (this.#deadlines.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #setDeadline(waiter: WaiterInHand): void {
    const { clock, maxWaitMs } = this.#options;
    this.#deadlines.delete(waiter);
    this.#deadlines.set(waiter, clock.now() + maxWaitMs);
    this.#timer ??= clock.after(maxWaitMs, () => this.#expire());
  }

  #expire(): void {
    const { clock, onExpired } = this.#options;
    const now = clock.now();
    // The timer that fired stays set meanwhile, so that `#setDeadline` sets no other.
    for (const [waiter, deadline] of this.#deadlines) {
      if (deadline > now) break;
      if (onExpired(waiter)) this.#setDeadline(waiter);
    }
    this.#timer = undefined;
    for (const [, deadline] of this.#deadlines) {
      this.#timer = clock.after(Math.max(0, deadline - now), () => this.#expire());
      break;
    }
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
