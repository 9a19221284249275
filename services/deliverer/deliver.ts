import {
  firstAttempt,
  publishWaiting,
  rowKeyOf,
  wait,
  type Delivery,
  type EndpointRoom,
  publishRetry,
} from '@waybell/line/delivery';
import type { Schedule } from '@waybell/line/line-topology';
import {
  type End,
  type Fate,
  type Handler,
  isNoResult,
  type NoResult,
  noResult,
  type Outgoing,
  type RowKey,
  type Waiting,
} from '@waybell/line/messages';
import { recordWithEnd } from '@waybell/line/outcome-batch';
import type { Answer, Delivered, Attempted, DeliveryFacts, Exhausted } from '@waybell/line/outcomes';
import { shownUrl } from '@waybell/notifications/callback';
import type { Clock } from '@waybell/runtime/clock';
import { microBatch } from '@waybell/runtime/micro-batch';
import { type AccessTokens, tokenNeedOf, type TokenNeed } from './credentials/access-tokens.ts';
import {
  endpointKey,
  roomOf,
  type Admit,
  type Hold,
  type RequestOrigin,
  type GrantedRequest,
  responseSpeed,
} from './endpoints/endpoint.ts';
import type { DeliveryTarget, FindTargets, KnownTarget } from './find-target.ts';
import type { AttemptResult } from './request/attempt.ts';
import type { CallEndpoint } from './request/call-endpoint.ts';
import type { DropReason, UnattemptedReason } from '@waybell/line/reasons';

export type DeliverOptions = EndOptions & {
  findTargets: FindTargets;
  /** Decides whether a request to an endpoint may begin now. */
  admit: Admit;
  /** Access tokens, for receivers that require one. */
  tokens: Pick<AccessTokens, 'atHand' | 'ask'>;
  callEndpoint: CallEndpoint;
  schedule: Schedule;
  /** An answer that takes longer is slow. */
  slowMs: number;
  /** Whether the delivery waits in a room already; then it stays there. */
  retain: (key: RowKey) => Promise<boolean>;
  /** Called for a row of a room in which its subscription has nothing to wait for any more. */
  onMoved: (room: string) => void;
  /** Called for a delivery that waits because this process lacks the key to its subscription's secrets. */
  onKeyMissing: (keyId: string) => void;
  clock: Pick<Clock, 'now'>;
};

/**
 * Makes one attempt at each delivery: looks up the receivers of all of them, sends each its request, and ends it with the record,
 * the next attempt after its delay, or the end. While its endpoint takes no more, a delivery waits, unchanged, in the room of that; while
 * its subscription is held, in a room of that; while a key is missing, in the broker.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  const { findTargets, clock } = options;
  const deliverer = new DeliveryHandler(options);
  return async (deliveries, isInHand) => {
    const askedAt = clock.now();
    const targets = await findTargets(deliveries.map(({ subscription }) => subscription));
    return (place, end) => {
      const delivery = deliveries[place];
      if (delivery === undefined) throw new Error('a batch has a delivery at each of its places');
      deliverer.begin({ delivery, target: targets[place], askedAt, end, place, isInHand });
    };
  };
}

/** A delivery whose target was looked up; `askedAt`: when, by the monotonic clock. */
type LookedUp<Target = KnownTarget> = {
  delivery: Delivery;
  target: Target;
  askedAt: number;
  /** Its place in its batch, of which `isInHand` is. */
  place: number;
  isInHand: (place: number) => boolean;
  end: End;
};

/** A delivery that may make one request. To be attempted, or its admission ended as unused. */
type Admitted = LookedUp<DeliveryTarget> & { admission: GrantedRequest };

/** A delivery whose receiver requires an access token, which is not at hand. */
type Unauthorized = Admitted & { accessToken?: never };

/** A delivery that can be attempted; `accessToken`: present if its credentials need one. */
type Authorized = Admitted & { accessToken?: string };

const TAKEN_BACK = noResult(new Error('another process has it'));
/** After waiting longer in hand, the target is looked up again. */
const OLD_MS = 100;

/**
 * Takes each delivery from its looked-up target to its end. The step calls `begin`, once for each; the endpoints call back from `admit`,
 * the tokens from `ask`, the receiver from `callEndpoint`. Every path calls `end` once, and ends an admission once: without a request as
 * unused.
 *
 *   begin ──▶ LookedUp ── decide ─┬─ target not known now ──────────▶ failed: it is handled again
 *                ▲                ├─ waits in its room already ─────▶ done, without effects
 *                │                ├─ over, or too old ──────────────▶ done: the record of its end
 *                │                ├─ subscription held ─────────────▶ done: waits in the room of its subscription
 *                │                ├─ key missing ───────────────────▶ done: waits in the broker
 *                │                └─ admit ─┬─ not now ─────────────▶ done: waits in the room of its endpoint
 *                │                          ▼
 *                │                      Admitted ── authorize ─┬─ no token at hand ──▶ Unauthorized ─┬─ none given ──▶ done: a failed attempt (1)
 *                │                          ▲                  ▼                                     │
 *                │ target changed           │ target as it was │                                     ▼ token
 *                └──────── checkAgain ──────┘              Authorized ◀──────────────────────────────┘
 *                              ▲                               │
 *      over 100 ms in hand: ───┘                            attempt ─┬─ in hand no more ─────────▶ failed, which counts for nothing
 *      until admitted, or until                                      └─ result ──▶ done: its record, and the next attempt or the end (2)
 *      the token came
 *
 * (1) Or failed, where the fetching of the token failed for a reason of ours; or waits in the room of its endpoint, if the step closes.
 * (2) Or waits in that room without a record, if the fault is our network's; or failed, if the result is an error of ours.
 */
class DeliveryHandler {
  readonly #options: DeliverOptions;
  readonly #findAgain: (subscription: string) => Promise<KnownTarget>;

  constructor(options: DeliverOptions) {
    this.#options = options;
    this.#findAgain = microBatch(options.findTargets, { nameOf: (subscription) => subscription });
  }

  begin(lookedUp: LookedUp): void {
    const { delivery, target } = lookedUp;
    if (delivery.mayWait && isPresent(target)) void this.#decideUnlessWaiting({ ...lookedUp, target });
    else this.#decide(lookedUp);
  }

  /**
   * A redelivered delivery may have been put into its room. Queried for those alone that are begun, not for a whole batch: after
   * `retain` the process that attempts a row cannot delete it any more, which repeats in the batch must not cause. Never rejects.
   */
  async #decideUnlessWaiting(lookedUp: LookedUp<DeliveryTarget>): Promise<void> {
    const { delivery, target, end } = lookedUp;
    const { retain, now } = this.#options;
    try {
      if (await retain(rowKeyOf(delivery, roomFor(delivery, target, now())))) endWith(end, []);
      else this.#decide(lookedUp);
    } catch (error) {
      end(noResult(error));
    }
  }

  /** Ends it without an attempt, or has it attempted once its endpoint takes it. */
  #decide(lookedUp: LookedUp): void {
    const { delivery, target: found, end } = lookedUp;
    const options = this.#options;
    // A delivery whose body was erased ends whatever its target is: other code could not tell that the body was erased.
    const target = delivery.waited?.isForgotten && isNoResult(found) ? undefined : found;
    if (isNoResult(target)) return end(target);
    const now = options.now();
    const room = target && roomFor(delivery, target, now);
    if (delivery.waited !== undefined && (delivery.waited.room !== room?.room || dropReason(target) !== undefined))
      options.onMoved(delivery.waited.room);
    const over = endWithoutAttempt(delivery, target, options);
    if (over !== undefined) return endWith(end, recordWithEnd(over));
    // A delivery without a target has ended.
    if (target === undefined || room === undefined) return;
    delivery.room = room;
    const hold = holdOf(target, now, delivery.byHand);
    if (hold !== undefined) return endWith(end, [waitHeld(delivery, hold, options)]);
    if (target.missingKey !== undefined) {
      options.onKeyMissing(target.missingKey);
      // A room has a limit, which could end it before the key comes.
      return endWith(end, [publishWaiting(delivery)]);
    }
    const requestedAt = options.clock.now();
    const key = endpointKey(target);
    options.admit(key, originOf(delivery), (admission) => {
      if (admission.kind === 'full') endWith(end, [wait(delivery, { why: admission.why })]);
      else if (options.clock.now() - requestedAt > OLD_MS) void this.#checkAgain({ ...lookedUp, target, admission });
      else this.#authorize({ ...lookedUp, target, admission });
    });
  }

  /** Waits for an access token if the request needs one and there is none. */
  #authorize(admitted: Admitted): void {
    const need = tokenNeedOf(admitted.target);
    if (need === undefined) return this.#attempt(admitted);
    const accessToken = this.#options.tokens.atHand(need);
    if (accessToken === undefined) void this.#awaitToken(admitted, need);
    else this.#attempt({ ...admitted, accessToken });
  }

  /** Never rejects. */
  async #awaitToken(unauthorized: Unauthorized, need: TokenNeed): Promise<void> {
    const { delivery, admission, end } = unauthorized;
    const { tokens, clock } = this.#options;
    const askedAt = clock.now();
    const given = await tokens.ask(need);
    if (given.kind === 'failed') return failAttempt(unauthorized, given.result, this.#options);
    if (given.kind === 'none') return fail(unauthorized, given.why);
    if (given.kind === 'closing') {
      admission.end('unused');
      return endWith(end, [wait(delivery, { why: 'full' })]);
    }
    const authorized = { ...unauthorized, accessToken: given.token };
    if (clock.now() - askedAt > OLD_MS) await this.#checkAgain(authorized);
    else this.#attempt(authorized);
  }

  /** The subscription may have ended, or have another endpoint, since the delivery waits in hand. Never rejects. */
  async #checkAgain(waited: Authorized): Promise<void> {
    const { delivery, admission, accessToken } = waited;
    const { clock, now } = this.#options;
    const askedAt = clock.now();
    const target = await this.#findAgain(delivery.subscription).catch(noResult);
    const isSame = isPresent(target) && roomFor(delivery, target, now()).room === delivery.room?.room;
    if (isSame && target.missingKey === undefined && endWithoutAttempt(delivery, target, this.#options) === undefined) {
      const admitted = { ...waited, target, askedAt };
      const isTokenOf = target.credentials?.guid === waited.target.credentials?.guid;
      if (accessToken !== undefined && isTokenOf) return this.#attempt(admitted);
      return this.#authorize(admitted);
    }
    admission.end('unused');
    this.#decide({ ...waited, target, askedAt });
  }

  /** Makes no request of what another process may have by now. */
  #attempt(authorized: Authorized): void {
    if (authorized.isInHand(authorized.place)) makeAttempt(authorized, this.#options);
    else fail(authorized, TAKEN_BACK);
  }
}

function roomFor({ subscription, byHand }: Delivery, target: DeliveryTarget, now: number): EndpointRoom {
  return roomOf(target, { subscription, hold: holdOf(target, now, byHand) });
}

function isPresent(target: KnownTarget): target is DeliveryTarget {
  return target !== undefined && !isNoResult(target);
}

/** Puts it into the room of its subscription, due when the hold ends or the delivery is too old, whichever is first. */
function waitHeld(delivery: Delivery, { why, until = Infinity }: Hold, { maxAgeMs, now }: EndOptions): Waiting {
  return wait(delivery, { why, afterMs: Math.min(until, tooOldAt(delivery.createdAt, maxAgeMs)) - now() });
}

function endWith(end: End, caused: readonly Outgoing[]): void {
  end({ kind: 'done', caused });
}

function originOf(delivery: Delivery): RequestOrigin {
  const { byHand, waited, isSuspect, attempt } = delivery;
  if (byHand?.why === 'test') return 'by hand';
  if (isSuspect) return 'suspect';
  if (waited !== undefined) return 'waited';
  return attempt === firstAttempt(delivery) ? 'fresh' : 'retry';
}

/** An older look-up does not show whether a success matters. The deactivator's window may be off by as much. */
const STALE_LOOK_UP_MS = 1_000;
/** Pause before a delivery is tried again; meanwhile others to its endpoint may get through. */
const EGRESS_PAUSE_MS = 1_000;

/** `beganAt`: start of its first attempt, in milliseconds since 1970. */
type Begun = Authorized & { beganAt: number };

/** Makes one request. Ends the delivery, and what its endpoint admitted, when that has ended. Throws nothing. */
function makeAttempt(authorized: Authorized, options: DeliverOptions): void {
  const { delivery, target, accessToken } = authorized;
  const { callbackUrl, verificationToken, signingSecrets, credentials } = target;
  const isLast = retryDelayMs(options.schedule, delivery) === undefined;
  const begun = asBegun(authorized, options);
  const request = { delivery, callbackUrl, verificationToken, signingSecrets, credentials, accessToken, isLast };
  try {
    options.callEndpoint(request, (result) => {
      if (isNoResult(result)) fail(authorized, result);
      else endAttempt(begun, result, options);
    });
  } catch (error) {
    fail(authorized, noResult(error));
  }
}

/** Ends an attempt whose request cannot be made, as its receiver could not be authenticated to. */
function failAttempt(unauthorized: Unauthorized, result: AttemptResult, options: DeliverOptions): void {
  endAttempt(asBegun(unauthorized, options), result, options);
}

function asBegun(authorized: Authorized, { now }: DeliverOptions): Begun {
  const { delivery } = authorized;
  return { ...authorized, beganAt: delivery.attempt === firstAttempt(delivery) ? now() : delivery.beganAt };
}

function endAttempt(begun: Begun, result: AttemptResult, options: DeliverOptions): void {
  const { delivery, admission, end } = begun;
  const { tooMuch } = result;
  const speed = result.isOurs ? 'hung' : responseSpeed(result, options.slowMs);
  admission.end(speed, tooMuch && { ...tooMuch, retryMs: retryDelayMs(options.schedule, delivery) });
  end(fateOf(result, begun, options));
}

/** That there is no result says nothing about the receiver. */
function fail({ admission, end }: Admitted, why: NoResult): void {
  admission.end('unused');
  end(why);
}

function fateOf(result: AttemptResult, begun: Begun, options: DeliverOptions): Fate {
  try {
    return { kind: 'done', caused: causedBy(result, begun, options) };
  } catch (error) {
    return noResult(error);
  }
}

/** Returns what an attempt causes. */
function causedBy(
  result: AttemptResult,
  { delivery, target, askedAt, beganAt }: Begun,
  options: DeliverOptions,
): Outgoing[] {
  const { isDelivered, isOurs, isHung: _, lostAt: __, tooMuch: ___, ...answer } = result;
  const { clock, now } = options;
  // It waits as for a hung endpoint, which gets single requests; a test reports the failure as it is.
  if (isOurs && delivery.byHand?.why !== 'test') {
    return [wait(delivery, { why: 'egress', afterMs: EGRESS_PAUSE_MS })];
  }
  if (!isDelivered) return afterFailure({ ...delivery, beganAt }, withUrl(answer, target), options);
  const reportsSuccess = target.reportsSuccess || clock.now() - askedAt > STALE_LOOK_UP_MS;
  const delivered: Delivered = { ...factsOf(delivery, now()), kind: 'delivered', beganAt, answer };
  return recordWithEnd(delivered, { reportsSuccess });
}

/** The record of an attempt without a request has its callback URL too. */
function withUrl(answer: Answer, { callbackUrl }: DeliveryTarget): Answer {
  const url = answer.url === undefined ? URL.parse(callbackUrl) : null;
  return url === null ? answer : { ...answer, url: shownUrl(url) };
}

function afterFailure(delivery: Delivery, answer: Answer, { schedule, now }: DeliverOptions): Outgoing[] {
  const delayMs = retryDelayMs(schedule, delivery);
  const at = now();
  if (delayMs === undefined) return recordWithEnd(exhausted(delivery, { answer }, at));
  const retryAt = at + delayMs;
  const { beganAt, attempt } = delivery;
  return [
    publishRetry({ ...delivery, attempt: attempt + 1, dueAt: retryAt }, delayMs),
    ...recordWithEnd({ kind: 'failed', ...factsOf(delivery, at), beganAt, answer, retryAt }),
  ];
}

/**
 * How long after a failed attempt the next one is due; undefined when it was the last.
 *
 * | interface | after attempt | source |
 * |---|---|---|
 * | shipper | 1 … 5: 60 s | shipper-webhooks, Limits: linear, interval 60 seconds, retry count 5 |
 * | carrier | 1: 1 s, 2: 2 s, 3: 4 s | carrier-webhooks, Limits: exponential backoff |
 *
 * A delivery sent again by hand starts the schedule again, whatever its attempt's number; a test has one attempt unless `isRetried`.
 */
export function retryDelayMs(schedule: Schedule, delivery: Delivery): number | undefined {
  if (delivery.byHand?.why === 'test' && !delivery.byHand.isRetried) return undefined;
  return schedule[delivery.interface][delivery.attempt - firstAttempt(delivery)];
}

/** `maxAgeMs`: a delivery older than this is exhausted, `expired`, without another attempt. `now`: in milliseconds since 1970. */
type EndOptions = { maxAgeMs: number; now: () => number };

/** Returns the end of a delivery that ends without an attempt, whatever its endpoint does. */
export function endWithoutAttempt(
  delivery: Delivery,
  target: DeliveryTarget | undefined,
  { maxAgeMs, now }: EndOptions,
): Attempted | undefined {
  const { waited, createdAt, body } = delivery;
  const reason = waited?.isForgotten ? 'forgotten' : dropReason(target, delivery.byHand);
  if (reason !== undefined) return { kind: 'dropped', reason, ...factsOf(delivery, now()), body };
  if (waited?.isOverLimit) return exhausted(delivery, { reason: 'parked_over_limit' }, now());
  return now() < tooOldAt(createdAt, maxAgeMs) ? undefined : exhausted(delivery, { reason: 'expired' }, now());
}

/** Returns the first millisecond in which a delivery made then is too old. */
function tooOldAt(createdAt: number, maxAgeMs: number): number {
  return createdAt + maxAgeMs + 1;
}

/** Returns why nothing is sent to a target any more; undefined for an active one, and for a test of one that is switched off. */
export function dropReason(target: DeliveryTarget | undefined, byHand?: Delivery['byHand']): DropReason | undefined {
  if (target === undefined || target.state === 'ended')
    return target?.isGone ? 'gone' : target?.isClosed ? 'closed' : 'unsubscribed';
  if (target.state === 'deactivated' && byHand?.why !== 'test') return 'deactivated';
  return target.isFeatureOn ? undefined : 'feature_off';
}

/** Returns what holds a target now. A test goes out during a pause; what an operator stopped gets none either. */
export function holdOf({ held }: DeliveryTarget, now: number, byHand?: Delivery['byHand']): Hold | undefined {
  if (held === undefined || (held.until ?? Infinity) <= now) return undefined;
  return held.why === 'paused' && byHand?.why === 'test' ? undefined : held;
}

function exhausted(delivery: Delivery, why: { answer: Answer } | { reason: UnattemptedReason }, at: number): Exhausted {
  const { beganAt, body } = delivery;
  return { kind: 'exhausted', ...factsOf(delivery, at), beganAt, ...why, body };
}

/** Returns the facts in every record of a delivery. */
function factsOf(delivery: Delivery, at: number): DeliveryFacts {
  const { guid, subscription, generation, event, interface: interfaceName, action, attempt } = delivery;
  const { waited, byHand, body } = delivery;
  const facts: DeliveryFacts = {
    delivery: guid,
    subscription,
    generation,
    event,
    interface: interfaceName,
    action,
    attempt,
    at,
  };
  if (waited !== undefined) facts.waited = waited.why;
  if (byHand !== undefined) facts.byHand = byHand.why;
  if (attempt === firstAttempt(delivery)) facts.body = body;
  return facts;
}
