import { backoffMs } from '@waybell/runtime/backoff';
import type { Admission, GrantedRequest, WaitingOrigin, ResponseSpeed, TooMuch } from './endpoint.ts';
import type { AccountUsage, HostUsage, EndpointClass, QueuePlace } from './slots.ts';
import { Window, type LimitShare, type WindowLimits } from './window.ts';

const NONE: never[] = [];

/** Lists of few items, in insertion order. Each of 100,000 endpoints has several, mostly empty: these all are one array. */
function emptyList<T>(): T[] {
  return NONE;
}

/** Adds an item to a list of `emptyList`; to be stored in its place. */
function withItem<T>(items: T[], item: T): T[] {
  if (items.length === 0) return [item];
  items.push(item);
  return items;
}

/** Removes an item, if it is there; to be stored in the list's place. */
function withoutItem<T>(items: T[], item: T): T[] {
  const at = items.indexOf(item);
  if (at === -1) return items;
  if (items.length === 1) return NONE;
  items.splice(at, 1);
  return items;
}

/**
 * Deliveries in hand that wait for one endpoint, each kind first come, first served. Those by hand go first, then retries,
 * as their schedule runs; fresh ones and those that waited in the room take turns while both wait.
 */
export class WaitingDeliveries<Waiter extends { readonly origin: WaitingOrigin }> {
  readonly #byOrigin: Record<WaitingOrigin, Waiter[]> = {
    'by hand': emptyList(),
    retry: emptyList(),
    fresh: emptyList(),
    waited: emptyList(),
  };
  #turnOf: 'fresh' | 'waited' = 'fresh';

  get count(): number {
    const { 'by hand': byHand, retry, fresh, waited } = this.#byOrigin;
    return byHand.length + retry.length + fresh.length + waited.length;
  }

  countOf(origin: WaitingOrigin): number {
    return this.#byOrigin[origin].length;
  }

  add(waiter: Waiter): void {
    this.#byOrigin[waiter.origin] = withItem(this.#byOrigin[waiter.origin], waiter);
  }

  delete(waiter: Waiter): void {
    this.#byOrigin[waiter.origin] = withoutItem(this.#byOrigin[waiter.origin], waiter);
  }

  /** The waiter whose turn it is. The caller grants its request. */
  next(): Waiter | undefined {
    const first = this.#byOrigin['by hand'][0] ?? this.#byOrigin.retry[0];
    if (first !== undefined) return first;
    const mine = this.#byOrigin[this.#turnOf][0];
    const other = this.#turnOf === 'fresh' ? 'waited' : 'fresh';
    if (mine !== undefined) this.#turnOf = other;
    return mine ?? this.#byOrigin[other][0];
  }

  /** Waiters without an attempt, as far as is known here. */
  fresh(): Waiter[] {
    return [...this.#byOrigin.fresh, ...this.#byOrigin.waited];
  }

  /** Waiters that came from the room: all, or all but the first. */
  waited({ areAll }: { areAll: boolean }): Waiter[] {
    return this.#byOrigin.waited.slice(areAll ? 0 : 1);
  }
}

/** A delivery in hand that waits for its turn at an endpoint. */
export type WaiterInHand = {
  readonly endpoint: KnownEndpoint;
  readonly origin: WaitingOrigin;
  readonly onAdmitted: (admission: Admission) => void;
};

export type RequestEnd = { speed: ResponseSpeed | 'unused'; tooMuch?: TooMuch | undefined; now: number };

export type EndRequest = (request: RunningRequest, ended: Omit<RequestEnd, 'now'>) => void;

/** A request under way; class and `isFirst` as they were when it began. */
export class RunningRequest implements GrantedRequest {
  readonly endpoint: KnownEndpoint;
  readonly beganAt: number;
  readonly endpointClass: EndpointClass;
  readonly isFirst: boolean;
  isSilent = false;
  readonly #onEnd: EndRequest;

  constructor(endpoint: KnownEndpoint, { now, onEnd }: { now: number; onEnd: EndRequest }) {
    this.endpoint = endpoint;
    this.beganAt = now;
    this.endpointClass = endpoint.endpointClass;
    this.isFirst = endpoint.isFirst;
    this.#onEnd = onEnd;
  }

  get kind(): 'granted' {
    return 'granted';
  }

  end(speed: RequestEnd['speed'], tooMuch?: TooMuch): void {
    this.#onEnd(this, { speed, tooMuch });
  }
}

type NewEndpoint = Pick<KnownEndpoint, 'key' | 'account' | 'hostUsage' | 'hungSince' | 'isClaimed'> & {
  sharing: LimitShare;
  window: { limits: WindowLimits; startSize: number };
};

/** The empty list of waiters. */
const NO_WAITERS: Omit<WaitingDeliveries<WaiterInHand>, 'add'> = new WaitingDeliveries<WaiterInHand>();

/** Times of other processes come by way of Postgres, and are late by as long as that takes. */
const CLOCKS_DIFFER_MS = 1_000;
/** Pause between two probes of a hung endpoint, as a share of the time for which it has hung, … */
const PROBE_PAUSE_SHARE = 1 / 4;
/** … and its bounds. */
const PROBE_LEAST_MS = 1_000;
const PROBE_MOST_MS = 60_000;

/**
 * An endpoint with its window, its requests and its waiters. It is hung while a request has timed out or been silent, and none
 * begun since was answered; a request that is silent while a later one was answered is stuck, and holds up none. It rests after
 * it answered "too much". Times are milliseconds of one clock, given by the caller.
 *
 *                        a timeout, or silence, of a request that began
 *                        after the last one that was answered
 *   new ── an answer ──▶ answering ───────────────────────────────────▶ hung ◀── hung as other deliverers know it
 *    │                       ▲                                          │ ▲ ▲
 *    └── a timeout ──────────┼──────────────────────────────────────────┼─┼─┘
 *                            │                             probe is due │ │ a timeout
 *                            │                                          ▼ │
 *                            └────────────────── an answer ──────────── probed
 *
 *   answering  quick or slow, as its last answer was; as many requests at once as its window has
 *   hung       a probe each time that a quarter of the time has passed for which it has hung, 1 to 60 s; at once after `probeSoon`
 *   probed     the request under way is the probe: one, or several while slots for hung endpoints are plenty
 *   rests      beside any of these: after a 429 or 503 until `restsUntil` no new delivery begins; retries, and those by hand, may
 *
 * Only `Endpoints` changes it.
 */
export class KnownEndpoint implements LimitShare {
  readonly key: string;
  readonly account: AccountUsage;
  readonly window: Window;
  hostUsage: HostUsage;
  /** The previous and the next endpoint in the order of use. */
  before: KnownEndpoint | undefined;
  after: KnownEndpoint | undefined;
  /** The queue in which it waits for a slot. */
  place: QueuePlace<KnownEndpoint> | undefined;
  /** Whether its room is to be notified of capacity. */
  awaitsCapacity = false;
  /** Whether its room was notified, and no request has begun since. */
  wasNotified = false;
  /** This process has claimed its room. */
  isClaimed: boolean;
  /** Number of its rows being put, and whether its room is to be notified once they are. */
  beingPut = 0;
  gotCapacity = false;
  touchedAt = 0;
  /** When it is to be checked; see `Alarms`. */
  alarmAt = Infinity;
  readonly #sharing: LimitShare;
  #proven: Exclude<EndpointClass, 'hung'> = 'new';
  /** Requests under way, in the order in which they began: those that may still be answered in time, and silent ones. */
  #running = emptyList<RunningRequest>();
  #silent = emptyList<RunningRequest>();
  /** Absent until a delivery waits for the first time. */
  #waiting: WaitingDeliveries<WaiterInHand> | undefined;
  #probes = 0;
  #answeredBegan = -Infinity;
  #hungSince: number | undefined;
  #lastBegan = -Infinity;
  #mayProbeSoon = false;
  /** Absent until the endpoint answers "too much" for the first time. */
  #rest: Rest | undefined;

  constructor({ key, account, hostUsage, hungSince, isClaimed, sharing, window }: NewEndpoint) {
    this.key = key;
    this.account = account;
    this.hostUsage = hostUsage;
    this.#hungSince = hungSince;
    this.isClaimed = isClaimed;
    this.#sharing = sharing;
    this.window = new Window(window.limits, { size: window.startSize, owner: this });
  }

  /** This process's share of its limits, from 0 to 1; whole where it has claimed the room, as all that waits goes through it. */
  get share(): number {
    return this.isClaimed ? 1 : this.#sharing.share;
  }

  /** Deliveries in hand that wait for it. */
  get waiting(): typeof NO_WAITERS {
    return this.#waiting ?? NO_WAITERS;
  }

  get hungSince(): number | undefined {
    return this.#hungSince;
  }

  /** No first attempt begins before then. */
  get restsUntil(): number {
    return this.#rest?.until ?? -Infinity;
  }

  get endpointClass(): EndpointClass {
    return this.#hungSince === undefined ? this.#proven : 'hung';
  }

  /** Whether no request is under way, except silent ones. */
  get isFirst(): boolean {
    return this.#running.length === 0;
  }

  get isInUse(): boolean {
    const isAtWork = this.#running.length + this.#silent.length + this.waiting.count + this.beingPut > 0;
    return isAtWork || this.isClaimed || this.place !== undefined;
  }

  /** Whether its window has capacity for all waiters and one more. */
  get hasCapacityForAll(): boolean {
    return this.#running.length + this.waiting.count < this.window.size;
  }

  /** Checks this endpoint's own limits only, not the slots. */
  mayBegin(now: number, maySeveralProbe: boolean): boolean {
    if (this.#hungSince === undefined) return this.#running.length < this.window.size;
    return now >= this.probeDueAt() && (maySeveralProbe || this.#probes === 0);
  }

  /** When the next probe of a hung endpoint may begin. */
  probeDueAt(): number {
    if (this.#mayProbeSoon) return -Infinity;
    const since = this.#hungSince ?? this.#lastBegan;
    // Solves pause = share × (last + pause - since).
    return this.#lastBegan + this.#probePauseMs((this.#lastBegan - since) / (1 - PROBE_PAUSE_SHARE));
  }

  /** When to ask again for a probe that may not begin now: one pause later, where others than its last one forbid it. */
  askForProbeAt(now: number): number {
    const dueAt = this.probeDueAt();
    return dueAt > now ? dueAt : now + this.#probePauseMs(now - (this.#hungSince ?? now));
  }

  probeSoon(): void {
    this.#mayProbeSoon = this.#hungSince !== undefined;
  }

  /** Another process found it to hang: it does, unless a request that began since was answered here. */
  foundToHang(since: number): void {
    if (since > this.#answeredBegan + CLOCKS_DIFFER_MS) this.#hang(since);
  }

  /** Takes a new endpoint for quick, as its host answers others quickly. */
  assumeQuick(): void {
    if (this.#lastBegan === -Infinity) this.#proven = 'quick';
  }

  addWaiter(waiter: WaiterInHand): void {
    (this.#waiting ??= new WaitingDeliveries()).add(waiter);
  }

  begin(now: number, onEnd: EndRequest): RunningRequest {
    const request = new RunningRequest(this, { now, onEnd });
    this.#running = withItem(this.#running, request);
    if (request.endpointClass === 'hung') this.#probes += 1;
    this.#lastBegan = now;
    this.#mayProbeSoon = false;
    this.wasNotified = false;
    this.window.begin(this.#running.length, now);
    this.hostUsage.begin(request);
    return request;
  }

  end(request: RunningRequest, { speed, tooMuch, now }: RequestEnd): void {
    const { beganAt } = request;
    this.#running = withoutItem(this.#running, request);
    this.#silent = withoutItem(this.#silent, request);
    if (request.endpointClass === 'hung') this.#probes -= 1;
    this.hostUsage.end(request);
    if (speed === 'unused') return;
    this.hostUsage.host.isQuick = speed === 'quick';
    if (speed === 'hung') {
      this.window.halve({ beganAt, now });
      this.#hang(beganAt);
      return;
    }
    this.#proven = speed;
    this.window.answer({ beganAt, now, isTooMuch: tooMuch !== undefined });
    if (tooMuch === undefined) this.#rest?.accepted();
    else (this.#rest ??= new Rest()).tooMuch({ beganAt, now, ...tooMuch });
    this.#answeredBegan = Math.max(this.#answeredBegan, beganAt);
    if (this.#hungSince === undefined || beganAt < this.#hungSince) return;
    this.#hungSince = undefined;
    for (const silent of this.#silent) this.#hang(silent.beganAt);
  }

  /** Marks requests that have become silent, and returns them. */
  detectSilence(now: number): readonly RunningRequest[] {
    let found = emptyList<RunningRequest>();
    for (let request = this.#running[0]; request !== undefined; request = this.#running[0]) {
      if (now - request.beganAt <= this.window.silenceLimitMs) break;
      found = withItem(found, request);
      this.#running = withoutItem(this.#running, request);
      this.#silent = withItem(this.#silent, request);
      request.isSilent = true;
      this.hostUsage.fallSilent(request);
      this.#hang(request.beganAt);
    }
    return found;
  }

  /** When a request may fall silent, a probe is due or a rest ends; Infinity: no check is needed. */
  nextCheckAt(now: number): number {
    const oldest = this.#running[0];
    const silentAt = oldest === undefined ? Infinity : oldest.beganAt + this.window.silenceLimitMs + 1;
    const restedAt = this.awaitsCapacity && this.restsUntil > now ? this.restsUntil : Infinity;
    const nextAt = Math.min(silentAt, restedAt);
    if (this.#hungSince === undefined || this.waiting.count === 0 || this.place !== undefined) return nextAt;
    const dueAt = this.probeDueAt();
    return Math.min(nextAt, dueAt > now ? dueAt : now + PROBE_LEAST_MS);
  }

  #probePauseMs(hungForMs: number): number {
    return Math.min(Math.max(hungForMs * PROBE_PAUSE_SHARE, PROBE_LEAST_MS) / this.share, PROBE_MOST_MS);
  }

  #hang(beganAt: number): void {
    if (beganAt > this.#answeredBegan) this.#hungSince = Math.min(this.#hungSince ?? Infinity, beganAt);
  }
}

/** Pauses after "too much", while it goes on. */
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
/** A retry of the refused delivery within this time, as a carrier's is, … */
const SOON_MS = 10_000;
/** … comes this long before new deliveries. */
const AHEAD_MS = 250;

type TooMuchAnswer = TooMuch & { beganAt: number; now: number };

/**
 * Keeps new deliveries from an endpoint that answers "too much": for as long as it asks, otherwise for 1, 2, 4 … 60 s while it
 * goes on; and until the refused delivery is retried, if that is soon: new ones would take its place until it has no attempt
 * left. Times are milliseconds of one clock, given by the caller.
 */
export class Rest {
  #until = -Infinity;
  #pauses = 0;

  get until(): number {
    return this.#until;
  }

  /** A request that began during the rest does not double the pause, but may ask for a longer one. */
  tooMuch({ beganAt, now, askedMs, retryMs = Infinity }: TooMuchAnswer): void {
    if (askedMs !== undefined) {
      this.#until = Math.max(this.#until, now + askedMs);
    } else if (beganAt >= this.#until) {
      this.#pauses += 1;
      this.#until = now + backoffMs(PAUSES, this.#pauses);
    }
    if (retryMs < SOON_MS) this.#until = Math.max(this.#until, now + retryMs + AHEAD_MS);
  }

  /** The endpoint answered a request without "too much". */
  accepted(): void {
    this.#pauses = 0;
  }
}
