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
} from './flow/endpoint.ts';
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
      const { beganAt } = delivery;
      deliverer.begin({ delivery, place, isInHand, end, target: targets[place], askedAt, ...NEW, beganAt });
    };
  };
}

/** A delivery in hand: one record, which gains what it lacks for its attempt. Its state is what it has. */
type DeliveryInHand = {
  readonly delivery: Delivery;
  /** Its place in its batch, of which `isInHand` is. */
  readonly place: number;
  readonly isInHand: (place: number) => boolean;
  readonly end: End;
  target: KnownTarget;
  /** When its target was looked up, by the monotonic clock. */
  askedAt: number;
  /** Since when it waits for its endpoint or a token, by the same clock. */
  waitsSince: number;
  admission: GrantedRequest | undefined;
  /** Stays undefined where its credentials need none. */
  accessToken: string | undefined;
  /** Start of its first attempt, in milliseconds since 1970. */
  beganAt: number;
};

const NEW = { waitsSince: 0, admission: undefined, accessToken: undefined };

type Admitted = DeliveryInHand & { target: DeliveryTarget; admission: GrantedRequest };

/** After waiting longer in hand, the target is looked up again. */
const OLD_MS = 100;
const TAKEN_BACK = noResult(new Error('another process has it'));

/**
 * Takes each delivery from its looked-up target to its end. Every path ends it once, and its admission: without a request as unused.
 *
 *   begin ─▶ decide ─┬─ target not known now ──────▶ away or failed: it is handled again
 *              ▲     ├─ waits in its room already ─▶ done, without effects
 *              │     ├─ over, or too old ──────────▶ done: the record of its end
 *              │     ├─ subscription held ─────────▶ done: waits in the room of its subscription
 *              │     ├─ key missing ───────────────▶ done: waits in the broker
 *              │     └─ admit, unless it is admitted there already ─┬─ not now ──▶ done: waits in the room of its endpoint
 *              │                                                    ▼
 *              └── looked up again, over 100 ms in hand ──────── advance ◀─ token ─┐
 *                                                                   ├─ needs one ──┴─ none given ─▶ done: a failed attempt (1)
 *                                                                   ▼
 *                                                                attempt ─┬─ in hand no more ─▶ failed, and nothing comes of it
 *                                                                         └─ result ──────────▶ done: its record, and the next
 *                                                                                               attempt or the end (2)
 *
 * (1) Or away or failed, where the fetching of the token failed for a reason of ours; or waits in the room of its endpoint, if the step closes.
 * (2) Or waits in that room without a record, if the fault is our network's; or away or failed, without a result.
 */
class DeliveryHandler {
  readonly #options: DeliverOptions;
  readonly #findAgain: (subscription: string) => Promise<KnownTarget>;

  constructor(options: DeliverOptions) {
    this.#options = options;
    this.#findAgain = microBatch(options.findTargets, { nameOf: (subscription) => subscription });
  }

  begin(inHand: DeliveryInHand): void {
    const { delivery, target } = inHand;
    if (delivery.mayWait && isPresent(target)) void this.#decideUnlessWaiting(inHand, target);
    else this.#decide(inHand);
  }

  /**
   * A redelivered delivery may have been put into its room. Queried for those alone that are begun, not for a whole batch: after
   * `retain` the process that attempts a row cannot delete it any more, which repeats in the batch must not cause. Never rejects.
   */
  async #decideUnlessWaiting(inHand: DeliveryInHand, target: DeliveryTarget): Promise<void> {
    const { delivery } = inHand;
    const { retain, now } = this.#options;
    try {
      if (await retain(rowKeyOf(delivery, roomFor(delivery, target, now())))) finish(inHand, done([]));
      else this.#decide(inHand);
    } catch (error) {
      finish(inHand, noResult(error));
    }
  }

  /** Ends it without an attempt, or has it advance once its endpoint takes it. */
  #decide(inHand: DeliveryInHand): void {
    const { delivery, admission: held } = inHand;
    const { admit, clock } = this.#options;
    const { room } = delivery;
    const target = targetOrEnd(inHand, this.#options);
    if ('kind' in target) return finish(inHand, target);
    if (held !== undefined) {
      if (delivery.room?.room === room?.room) return this.#advance(Object.assign(inHand, { target, admission: held }));
      held.end('unused');
      Object.assign(inHand, NEW);
    }
    inHand.waitsSince = clock.now();
    admit(endpointKey(target), originOf(delivery), (admission) => {
      if (admission.kind === 'full') finish(inHand, done([wait(delivery, { why: admission.why })]));
      else this.#advance(Object.assign(inHand, { target, admission }));
    });
  }

  /** Has it attempted, unless it lacks an access token, or has waited for long. */
  #advance(admitted: Admitted): void {
    const { clock, tokens } = this.#options;
    if (clock.now() - admitted.waitsSince > OLD_MS) return void this.#lookUpAgain(admitted);
    const need = tokenNeedOf(admitted.target);
    if (need !== undefined) admitted.accessToken ??= tokens.atHand(need);
    if (need === undefined || admitted.accessToken !== undefined) makeAttempt(admitted, this.#options);
    else void this.#obtainToken(admitted, need);
  }

  /** Never rejects. */
  async #obtainToken(admitted: Admitted, need: TokenNeed): Promise<void> {
    const { tokens, clock } = this.#options;
    admitted.waitsSince = clock.now();
    const given = await tokens.ask(need);
    if (given.kind === 'token') this.#advance(Object.assign(admitted, { accessToken: given.token }));
    else if (given.kind === 'none') finish(admitted, given.why);
    else if (given.kind === 'closing') finish(admitted, done([wait(admitted.delivery, { why: 'full' })]));
    else endAttempt(begun(admitted, this.#options), given.result, this.#options);
  }

  /** The subscription may have ended, or have another endpoint or credentials, since the delivery waits in hand. Never rejects. */
  async #lookUpAgain(admitted: Admitted): Promise<void> {
    const { delivery, target: before, accessToken } = admitted;
    const { clock } = this.#options;
    const askedAt = clock.now();
    const target = await this.#findAgain(delivery.subscription).catch(noResult);
    const isTokenOf = isPresent(target) && target.credentials?.guid === before.credentials?.guid;
    const kept = { accessToken: isTokenOf ? accessToken : undefined };
    this.#decide(Object.assign(admitted, { target, askedAt, waitsSince: clock.now(), ...kept }));
  }
}

/** Returns the target to attempt it at, or how it ends without an attempt. */
function targetOrEnd({ delivery, target: found }: DeliveryInHand, options: DeliverOptions): DeliveryTarget | Fate {
  // A delivery whose body was erased ends whatever its target is: other code could not tell that the body was erased.
  const target = delivery.waited?.isForgotten && isNoResult(found) ? undefined : found;
  if (isNoResult(target)) return target;
  const now = options.now();
  const room = target && roomFor(delivery, target, now);
  if (delivery.waited !== undefined && (delivery.waited.room !== room?.room || dropReason(target) !== undefined))
    options.onMoved(delivery.waited.room);
  const over = endWithoutAttempt(delivery, target, options);
  if (over !== undefined) return done(recordWithEnd(over));
  if (target === undefined || room === undefined) throw new Error('a delivery without a target is over');
  delivery.room = room;
  const hold = holdOf(target, now, delivery.byHand);
  if (hold !== undefined) return done([waitHeld(delivery, hold, options)]);
  if (target.missingKey === undefined) return target;
  options.onKeyMissing(target.missingKey);
  // A room has a limit, which could end it before the key comes.
  return done([publishWaiting(delivery)]);
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

function done(caused: readonly Outgoing[]): Fate {
  return { kind: 'done', caused };
}

/** Ends it without a request. */
function finish({ admission, end }: DeliveryInHand, fate: Fate): void {
  admission?.end('unused');
  end(fate);
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

/** Makes one request, unless another process may have the delivery by now. Ends it when that has ended. Throws nothing. */
function makeAttempt(admitted: Admitted, options: DeliverOptions): void {
  const { delivery, target, accessToken, place } = admitted;
  if (!admitted.isInHand(place)) return finish(admitted, TAKEN_BACK);
  const { callbackUrl, verificationToken, signingSecrets, credentials } = target;
  const isLast = retryDelayMs(options.schedule, delivery) === undefined;
  const request = { delivery, callbackUrl, verificationToken, signingSecrets, credentials, accessToken, isLast };
  begun(admitted, options);
  try {
    options.callEndpoint(request, (result) => {
      // That there is no result says nothing about the receiver.
      if (isNoResult(result)) finish(admitted, result);
      else endAttempt(admitted, result, options);
    });
  } catch (error) {
    finish(admitted, noResult(error));
  }
}

function begun(admitted: Admitted, { now }: DeliverOptions): Admitted {
  if (admitted.delivery.attempt === firstAttempt(admitted.delivery)) admitted.beganAt = now();
  return admitted;
}

function endAttempt(admitted: Admitted, result: AttemptResult, options: DeliverOptions): void {
  const { delivery, admission, end } = admitted;
  const { tooMuch } = result;
  const speed = result.isOurs ? 'hung' : responseSpeed(result, options.slowMs);
  admission.end(speed, tooMuch && { ...tooMuch, retryMs: retryDelayMs(options.schedule, delivery) });
  end(fateOf(result, admitted, options));
}

function fateOf(result: AttemptResult, admitted: Admitted, options: DeliverOptions): Fate {
  try {
    return done(causedBy(result, admitted, options));
  } catch (error) {
    return noResult(error);
  }
}

/** Returns what an attempt causes. */
function causedBy(
  result: AttemptResult,
  { delivery, target, askedAt, beganAt }: Admitted,
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
