import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Account, Begun, Neighbours } from './account.ts';
import type { Ending, TooMuch } from './endpoint.ts';
import type { Line } from './line.ts';
import { Rest } from './rest.ts';
import { ShortList } from './short-list.ts';
import type { Trust } from './slots.ts';
import { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

const NONE: Request[] = [];

/** A request under way. */
export type Request = Begun & { readonly beganAt: number };

export type Ended = { ending: Ending | 'unused'; tooMuch?: TooMuch | undefined; now: number };

/** The next probe of a hung endpoint begins when the last began this part of the time ago for which it has been hung, … */
const PROBE_PART = 1 / 4;
/** … at least and at most so long. */
export const PROBE_LEAST_MS = 1_000;
const PROBE_MOST_MS = 60_000;

/**
 * What is known of one endpoint. It is hung while a request to it has timed out or been silent, and nothing begun since
 * was answered; a request that is silent while something begun since was answered is stuck, and holds up none. It rests
 * after it said "too much". Times are milliseconds of one clock, given by the caller.
 */
export class KnownEndpoint {
  readonly name: string;
  readonly account: Account;
  readonly window: Window;
  readonly waiting = new Waiting();
  neighbours: Neighbours;
  /** In which it stands, for a place that others hold. */
  line: Line | undefined;
  lineSince = 0;
  /** The owner of its parked deliveries is to be told when there is room. */
  isOwedWord = false;
  /** It was told so in its turn, and nothing has begun since. */
  isCalled = false;
  touchedAt = 0;
  #proven: Exclude<Trust, 'hung'> = 'new';
  /** Both in the order in which they began. */
  readonly #heardable = new ShortList<Request>();
  readonly #silent = new ShortList<Request>();
  #probes = 0;
  #answeredBegan = -Infinity;
  #hungSince: number | undefined;
  #lastBegan = -Infinity;
  #mayProbeSoon = false;
  /** Only of one that said "too much" once. */
  #rest: Rest | undefined;
  #timer: { at: number; timer: Timer } | undefined;

  constructor(what: Pick<KnownEndpoint, 'name' | 'account' | 'window' | 'neighbours'> & { hungSince?: number }) {
    this.name = what.name;
    this.account = what.account;
    this.window = what.window;
    this.neighbours = what.neighbours;
    this.#hungSince = what.hungSince;
  }

  get hungSince(): number | undefined {
    return this.#hungSince;
  }

  /** Until then nothing is begun for it that had no attempt yet. */
  get restsUntil(): number {
    return this.#rest?.until ?? -Infinity;
  }

  get trust(): Trust {
    return this.#hungSince === undefined ? this.#proven : 'hung';
  }

  /** Nothing is under way but what is stuck. */
  get isFirst(): boolean {
    return this.#heardable.size === 0;
  }

  get isInUse(): boolean {
    return this.#heardable.size + this.#silent.size > 0 || this.waiting.count > 0 || this.line !== undefined;
  }

  /** Its window has room for so many waiters more than wait already. */
  get hasRoomForAll(): boolean {
    return this.#heardable.size + this.waiting.count < this.window.size;
  }

  /** As far as it is its own affair. */
  mayBegin(now: number, maySeveralProbe: boolean): boolean {
    if (this.#hungSince === undefined) return this.#heardable.size < this.window.size;
    return now >= this.probeDueAt() && (maySeveralProbe || this.#probes === 0);
  }

  /** When the next probe may begin; only of a hung one. */
  probeDueAt(): number {
    if (this.#mayProbeSoon) return -Infinity;
    const since = this.#hungSince ?? this.#lastBegan;
    // The moment at which the pause is this part of the time since: pause = part × (last + pause - since).
    const pauseMs = ((this.#lastBegan - since) * PROBE_PART) / (1 - PROBE_PART);
    return this.#lastBegan + Math.min(Math.max(pauseMs, PROBE_LEAST_MS) / this.account.part, PROBE_MOST_MS);
  }

  probeSoon(): void {
    this.#mayProbeSoon = this.#hungSince !== undefined;
  }

  /** It has not answered yet, but its host answers others. */
  trustItsHost(): void {
    if (this.#lastBegan === -Infinity) this.#proven = 'quick';
  }

  begin(now: number): Request {
    const request: Request = { beganAt: now, trust: this.trust, isFirst: this.isFirst, isSilent: false };
    this.#heardable.add(request);
    if (request.trust === 'hung') this.#probes += 1;
    this.#lastBegan = now;
    this.#mayProbeSoon = false;
    this.isCalled = false;
    this.window.begin(this.#heardable.size, now);
    this.neighbours.begin(request);
    return request;
  }

  end(request: Request, { ending, tooMuch, now }: Ended): void {
    const { beganAt } = request;
    this.#heardable.delete(request);
    this.#silent.delete(request);
    if (request.trust === 'hung') this.#probes -= 1;
    this.neighbours.end(request);
    if (ending === 'unused') return;
    this.neighbours.host.isQuick = ending === 'quick';
    if (ending === 'hung') {
      this.window.halve({ beganAt, now });
      this.#hang(beganAt);
      return;
    }
    this.#proven = ending;
    this.window.answer({ beganAt, now, isTooMuch: tooMuch !== undefined });
    if (tooMuch === undefined) this.#rest?.tookOne();
    else (this.#rest ??= new Rest()).tooMuch({ beganAt, now, ...tooMuch });
    this.#answeredBegan = Math.max(this.#answeredBegan, beganAt);
    if (this.#hungSince === undefined || beganAt < this.#hungSince) return;
    this.#hungSince = undefined;
    for (const silent of this.#silent.all()) this.#hang(silent.beganAt);
  }

  /** Finds those that are silent by now, and were not before. */
  listen(now: number): readonly Request[] {
    let found: Request[] = NONE;
    for (let request = this.#heardable.first; request !== undefined; request = this.#heardable.first) {
      if (now - request.beganAt <= this.window.patienceMs) break;
      if (found === NONE) found = [];
      found.push(request);
      this.#heardable.delete(request);
      this.#silent.add(request);
      request.isSilent = true;
      this.neighbours.fallSilent(request);
      this.#hang(request.beganAt);
    }
    return found;
  }

  /** Has it looked at when something may have become of it though nothing happens. */
  lookLater(clock: Clock, look: () => void): void {
    const at = this.#nextLookAt(clock.now());
    if (at === Infinity || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer[Symbol.dispose]();
    const timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timer = undefined;
      look();
    });
    timer.unref();
    this.#timer = { at, timer };
  }

  /** When it is to be looked at again though nothing happens; infinite: never. */
  #nextLookAt(now: number): number {
    const oldest = this.#heardable.first;
    const silentAt = oldest === undefined ? Infinity : oldest.beganAt + this.window.patienceMs + 1;
    const restedAt = this.isOwedWord && this.restsUntil > now ? this.restsUntil : Infinity;
    const nextAt = Math.min(silentAt, restedAt);
    if (this.#hungSince === undefined || this.waiting.count === 0 || this.line !== undefined) return nextAt;
    const dueAt = this.probeDueAt();
    return Math.min(nextAt, dueAt > now ? dueAt : now + PROBE_LEAST_MS);
  }

  #hang(beganAt: number): void {
    if (beganAt > this.#answeredBegan) this.#hungSince = Math.min(this.#hungSince ?? Infinity, beganAt);
  }
}
