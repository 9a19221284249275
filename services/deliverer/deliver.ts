import type { Clock } from '@waybell/runtime/clock';
import { firstAttempt, park, publishRetry, publishWaiting, type Delivery } from '@waybell/line/delivery';
import { recordWithEnd } from '@waybell/line/delivery-ends';
import type { Handler, Outgoing } from '@waybell/line/messages';
import type { Answer, Attempted, DeliveryFacts, Exhausted } from '@waybell/line/outcomes';
import type { UnattemptedReason } from '@waybell/line/reasons';
import type { Schedule } from '@waybell/line/line-topology';
import type { CallEndpoint } from './request/call-endpoint.ts';
import { dropReason } from './drop-reason.ts';
import {
  endpointKey,
  type EndpointKey,
  type ResponseSpeed,
  type Admission,
  type Admit,
  type Granted,
  type TooMuch,
  type RequestOrigin,
} from './endpoints/endpoint.ts';
import { responseSpeed } from './endpoints/response-speed.ts';
import type { FindTarget, DeliveryTarget } from './find-target.ts';
import { retryDelayMs } from './retry-schedule.ts';

export type DecideOptions = {
  findTarget: FindTarget;
  /** Decides whether a request to an endpoint may begin now. */
  admit: Admit;
  /** Whether this attempt at the delivery is parked, with at least this hop. */
  isParked: (delivery: Delivery) => Promise<boolean>;
  /** Called for a delivery that waits because this process lacks the key to its subscription's secrets. */
  onKeyMissing: (keyId: string) => void;
  /** A delivery older than this is exhausted, `expired`, without another attempt. */
  maxAgeMs: number;
  clock: Pick<Clock, 'now'>;
  now: () => number;
};

export type AttemptOptions = {
  callEndpoint: CallEndpoint;
  schedule: Schedule;
  slowMs: number;
  /** Called when an endpoint known as hung has answered a delivery sent by hand. */
  onRevived: (subscription: string) => void;
  clock: Pick<Clock, 'now'>;
  now: () => number;
};

/** After waiting longer in hand, the target is looked up again. */
const OLD_MS = 100;
/** An older look-up does not tell whether a success matters. The deactivator's window may be off by as much. */
const STALE_LOOK_UP_MS = 1_000;

/** Pause before a delivery is tried again; meanwhile others to its endpoint may get through. */
const EGRESS_PAUSE_MS = 1_000;

export type DeliverOptions = DecideOptions & AttemptOptions;

/** `askedAt`: by the monotonic clock. */
type LiveTarget = { target: DeliveryTarget; askedAt: number };

/** To attempt a delivery now, or the effects without an attempt. */
type Decision = (LiveTarget & { kind: 'attempt'; admission: Granted }) | { kind: 'none'; caused: Outgoing[] };

/**
 * Makes one attempt at a delivery: looks up its receiver, sends it, and returns the effects: the record, the next attempt after
 * its delay, or the end. Parks the delivery, unchanged, while its endpoint takes no more; leaves it in the broker, unchanged,
 * while a key is missing.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  return async (delivery) => {
    if (delivery.mayBeParked && (await options.isParked(delivery))) return [];
    const decision = await decide(delivery, options);
    return decision.kind === 'none' ? decision.caused : makeAttempt(delivery, decision, options);
  };
}

/** Looks up the receiver of a delivery; or returns its end, if it ends without an attempt whatever its endpoint does. */
async function lookUp(delivery: Delivery, options: DecideOptions): Promise<LiveTarget | Attempted> {
  const { findTarget, maxAgeMs, clock, now } = options;
  const askedAt = clock.now();
  const target = await findTarget(delivery.subscription);
  const { parked, createdAt, body } = delivery;
  const reason = parked?.isForgotten ? 'forgotten' : dropReason(target);
  if (target === undefined || reason !== undefined) {
    return { kind: 'dropped', reason: reason ?? 'unsubscribed', ...facts(delivery, now()), body };
  }
  if (parked?.isOverLimit) return exhausted(delivery, { reason: 'parked_over_limit' }, now());
  return now() - createdAt > maxAgeMs ? exhausted(delivery, { reason: 'expired' }, now()) : { target, askedAt };
}

async function decide(delivery: Delivery, options: DecideOptions): Promise<Decision> {
  const { admit, clock } = options;
  const found = await lookUp(delivery, options);
  if ('kind' in found) return { kind: 'none', caused: [{ kind: 'outcome', outcome: found }] };
  const { target } = found;
  if (target.missingKey !== undefined) {
    options.onKeyMissing(target.missingKey);
    // Not parked: the limit of parked deliveries could end it before the key comes.
    return { kind: 'none', caused: [publishWaiting(delivery)] };
  }
  const [key, requestedAt] = [endpointKey(target), clock.now()];
  const asked = { ...key, isKnownHung: target.isHung };
  const admission = await new Promise<Admission>((resolve) => admit(asked, originOf(delivery), resolve));
  if (admission.kind === 'full')
    return { kind: 'none', caused: [park(delivery, { account: target.account, why: admission.why })] };
  if (clock.now() - requestedAt <= OLD_MS) return { kind: 'attempt', ...found, admission };
  // The subscription may have ended, or lead elsewhere, while the delivery waited in hand.
  const present = await lookUp(delivery, options).catch((error: unknown) => {
    admission.end('unused');
    throw error;
  });
  if (!('kind' in present) && isCalledAt(present.target, key)) {
    return { kind: 'attempt', ...present, admission };
  }
  admission.end('unused');
  return decide(delivery, options);
}

function isCalledAt(target: DeliveryTarget, { endpoint }: EndpointKey): boolean {
  return target.missingKey === undefined && endpointKey(target).endpoint === endpoint;
}

type Attempting = Decision & { kind: 'attempt' };

async function makeAttempt(
  delivery: Delivery,
  { target, askedAt, admission }: Attempting,
  options: AttemptOptions,
): Promise<Outgoing[]> {
  const { callEndpoint, schedule, slowMs, onRevived, clock, now } = options;
  const { callbackUrl, verificationToken, signingSecrets, isHung, account } = target;
  const retryMs = retryDelayMs(schedule, delivery);
  const beganAt = delivery.attempt === firstAttempt(delivery) ? now() : delivery.beganAt;
  const begun = { ...delivery, beganAt };
  // A thrown error says nothing about the receiver.
  let [speed, tooMuch]: [ResponseSpeed | 'unused', TooMuch?] = ['unused'];
  try {
    const result = await callEndpoint({
      delivery: begun,
      callbackUrl,
      verificationToken,
      signingSecrets,
      isLast: retryMs === undefined,
    });
    const { isDelivered, isOurs, lostAt: _, tooMuch: asked, ...answer } = result;
    [speed, tooMuch] = [isOurs ? 'hung' : responseSpeed(result, slowMs), asked];
    // Parked as for a hung endpoint, which gets single requests; a test reports the failure as it is.
    if (isOurs && delivery.byHand?.why !== 'test') {
      return [park(delivery, { account, why: 'egress', notBeforeMs: EGRESS_PAUSE_MS })];
    }
    if (!isDelivered) return afterFailure(begun, answer, options);
    if (isHung && delivery.byHand !== undefined) onRevived(delivery.subscription);
    const reportsSuccess = target.reportsSuccess || clock.now() - askedAt > STALE_LOOK_UP_MS;
    return recordWithEnd({ kind: 'delivered', ...facts(delivery, now()), beganAt, answer }, { reportsSuccess });
  } finally {
    admission.end(speed, tooMuch && { ...tooMuch, retryMs });
  }
}

function afterFailure(delivery: Delivery, answer: Answer, { schedule, now }: AttemptOptions): Outgoing[] {
  const [delayMs, at] = [retryDelayMs(schedule, delivery), now()];
  if (delayMs === undefined) return recordWithEnd(exhausted(delivery, { answer }, at));
  const { hop: _, ...same } = delivery;
  const retryAt = at + delayMs;
  const next: Delivery = { ...same, attempt: delivery.attempt + 1, dueAt: retryAt };
  const failed: Attempted = { kind: 'failed', ...facts(delivery, at), beganAt: delivery.beganAt, answer, retryAt };
  return [publishRetry(next, delayMs), { kind: 'outcome', outcome: failed }];
}

function originOf(delivery: Delivery): RequestOrigin {
  const { byHand, parked, isSuspect, attempt } = delivery;
  if (byHand?.why === 'test') return 'by hand';
  if (isSuspect) return 'suspect';
  if (parked !== undefined) return 'parked';
  return attempt === firstAttempt(delivery) ? 'fresh' : 'retry';
}

function exhausted(delivery: Delivery, why: { answer: Answer } | { reason: UnattemptedReason }, at: number): Exhausted {
  const { beganAt, body } = delivery;
  return { kind: 'exhausted', ...facts(delivery, at), beganAt, ...why, body };
}

function facts(delivery: Delivery, at: number): DeliveryFacts {
  const { guid, subscription, generation, event, interface: interfaceName, action, attempt } = delivery;
  const { parked, byHand, body } = delivery;
  const known: DeliveryFacts = {
    delivery: guid,
    subscription,
    generation,
    event,
    interface: interfaceName,
    action,
    attempt,
    at,
  };
  if (parked !== undefined) known.parked = parked.why;
  if (byHand !== undefined) known.byHand = byHand.why;
  if (attempt === firstAttempt(delivery)) known.body = body;
  return known;
}
