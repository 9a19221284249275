import type { Clock, Timer } from '@waybell/runtime/clock';
import type { AccountUsage, HostUsage, RunningRequest } from './account-usage.ts';
import type { Admission, PatientOrigin, ResponseSpeed, TooMuch } from './endpoint.ts';
import { Rest } from './rest.ts';
import { ShortList } from './short-list.ts';
import type { SlotQueue } from './slot-queue.ts';
import type { EndpointClass } from './slots.ts';
import { WaitingDeliveries } from './waiting-deliveries.ts';
import type { Window } from './window.ts';

const NONE: RunningRequest[] = [];

/** A delivery in hand that waits for its turn at an endpoint. */
export type Waiter = {
  readonly endpoint: KnownEndpoint;
  readonly origin: PatientOrigin;
  readonly resolve: (admission: Admission) => void;
};

export type RequestEnd = { speed: ResponseSpeed | 'unused'; tooMuch?: TooMuch | undefined; now: number };

/** Pause between two probes of a hung endpoint, as a part of the time for which it has hung, … */
const PROBE_PART = 1 / 4;
/** … and its bounds. */
export const PROBE_LEAST_MS = 1_000;
const PROBE_MOST_MS = 60_000;

/**
 * An endpoint with its window, its requests and its waiters. It is hung while a request has timed out or been silent, and
 * none begun since was answered; a request that is silent while a later one was answered is stuck, and holds up none. It
 * rests after it said "too much". Times are milliseconds of one clock, given by the caller.
 */
export class KnownEndpoint {
  readonly name: string;
  readonly account: AccountUsage;
  readonly window: Window;
  readonly waiting = new WaitingDeliveries<Waiter>();
  hostUsage: HostUsage;
  /** The queue in which it waits for a slot. */
  queue: SlotQueue<KnownEndpoint> | undefined;
  queuedAt = 0;
  /** The owner of its parked deliveries waits to be notified of room. */
  awaitsRoom = false;
  /** The owner was notified, and no request has begun since. */
  wasNotified = false;
  touchedAt = 0;
  #proven: Exclude<EndpointClass, 'hung'> = 'new';
  /** Requests under way, in the order in which they began: those that may still be answered in time, and silent ones. */
  readonly #running = new ShortList<RunningRequest>();
  readonly #silent = new ShortList<RunningRequest>();
  #probes = 0;
  #answeredBegan = -Infinity;
  #hungSince: number | undefined;
  #lastBegan = -Infinity;
  #mayProbeSoon = false;
  /** Absent until the endpoint says "too much" for the first time. */
  #rest: Rest | undefined;
  #timer: { at: number; timer: Timer } | undefined;

  constructor(what: Pick<KnownEndpoint, 'name' | 'account' | 'window' | 'hostUsage'> & { hungSince?: number }) {
    this.name = what.name;
    this.account = what.account;
    this.window = what.window;
    this.hostUsage = what.hostUsage;
    this.#hungSince = what.hungSince;
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

  /** No request is under way but silent ones. */
  get isFirst(): boolean {
    return this.#running.size === 0;
  }

  get isInUse(): boolean {
    return this.#running.size + this.#silent.size > 0 || this.waiting.count > 0 || this.queue !== undefined;
  }

  /** Its window has room for all waiters and one more. */
  get hasRoomForAll(): boolean {
    return this.#running.size + this.waiting.count < this.window.size;
  }

  /** Looks at this endpoint's own limits only, not at the slots. */
  mayBegin(now: number, maySeveralProbe: boolean): boolean {
    if (this.#hungSince === undefined) return this.#running.size < this.window.size;
    return now >= this.probeDueAt() && (maySeveralProbe || this.#probes === 0);
  }

  /** When the next probe of a hung endpoint may begin. */
  probeDueAt(): number {
    if (this.#mayProbeSoon) return -Infinity;
    const since = this.#hungSince ?? this.#lastBegan;
    // Solves pause = part × (last + pause - since).
    const pauseMs = ((this.#lastBegan - since) * PROBE_PART) / (1 - PROBE_PART);
    return this.#lastBegan + Math.min(Math.max(pauseMs, PROBE_LEAST_MS) / this.account.part, PROBE_MOST_MS);
  }

  probeSoon(): void {
    this.#mayProbeSoon = this.#hungSince !== undefined;
  }

  /** Takes a new endpoint for quick, as its host answers others quickly. */
  assumeQuick(): void {
    if (this.#lastBegan === -Infinity) this.#proven = 'quick';
  }

  begin(now: number): RunningRequest {
    const request: RunningRequest = {
      beganAt: now,
      endpointClass: this.endpointClass,
      isFirst: this.isFirst,
      isSilent: false,
    };
    this.#running.add(request);
    if (request.endpointClass === 'hung') this.#probes += 1;
    this.#lastBegan = now;
    this.#mayProbeSoon = false;
    this.wasNotified = false;
    this.window.begin(this.#running.size, now);
    this.hostUsage.begin(request);
    return request;
  }

  end(request: RunningRequest, { speed, tooMuch, now }: RequestEnd): void {
    const { beganAt } = request;
    this.#running.delete(request);
    this.#silent.delete(request);
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
    for (const silent of this.#silent.all()) this.#hang(silent.beganAt);
  }

  /** Marks requests that have become silent, and returns them. */
  detectSilence(now: number): readonly RunningRequest[] {
    let found: RunningRequest[] = NONE;
    for (let request = this.#running.first; request !== undefined; request = this.#running.first) {
      if (now - request.beganAt <= this.window.silenceLimitMs) break;
      if (found === NONE) found = [];
      found.push(request);
      this.#running.delete(request);
      this.#silent.add(request);
      request.isSilent = true;
      this.hostUsage.fallSilent(request);
      this.#hang(request.beganAt);
    }
    return found;
  }

  /** Schedules the next check for silent requests, due probes and the end of a rest. */
  scheduleCheck(clock: Clock, check: () => void): void {
    const at = this.#nextCheckAt(clock.now());
    if (at === Infinity || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer[Symbol.dispose]();
    const timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timer = undefined;
      check();
    });
    timer.unref();
    this.#timer = { at, timer };
  }

  /** Infinity: no check is needed. */
  #nextCheckAt(now: number): number {
    const oldest = this.#running.first;
    const silentAt = oldest === undefined ? Infinity : oldest.beganAt + this.window.silenceLimitMs + 1;
    const restedAt = this.awaitsRoom && this.restsUntil > now ? this.restsUntil : Infinity;
    const nextAt = Math.min(silentAt, restedAt);
    if (this.#hungSince === undefined || this.waiting.count === 0 || this.queue !== undefined) return nextAt;
    const dueAt = this.probeDueAt();
    return Math.min(nextAt, dueAt > now ? dueAt : now + PROBE_LEAST_MS);
  }

  #hang(beganAt: number): void {
    if (beganAt > this.#answeredBegan) this.#hungSince = Math.min(this.#hungSince ?? Infinity, beganAt);
  }
}
