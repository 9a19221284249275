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
  type TooMuch,
  type RequestOrigin,
} from './endpoints/endpoint.ts';
import { responseSpeed } from './endpoints/response-speed.ts';
import type { FindTarget, DeliveryTarget } from './find-target.ts';
import { retryDelayMs } from './retry-schedule.ts';

export type DecideOptions = {
  findTarget: FindTarget;
  /** Asks for leave to make one request to an endpoint. */
  admit: (key: EndpointKey, wish: RequestOrigin) => Promise<Admission>;
  /** Whether this attempt at the delivery waits already, moved at least as often. */
  isParked: (delivery: Delivery) => Promise<boolean>;
  /** A delivery waits because this process lacks the key for the secrets of its subscription. */
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
  /** An endpoint that was thought to hang has answered what was sent by hand. */
  onRevived: (subscription: string) => void;
  clock: Pick<Clock, 'now'>;
  now: () => number;
};

/** After this the target is looked at once more. */
const OLD_MS = 100;
/** After this what was looked up does not say whether a success can matter. The window rule may be early by so much. */
const TOO_OLD_TO_SAY_MS = 1_000;

/** Others of its endpoint may get through meanwhile: without a pause it would be tried again and again beside them. */
const EGRESS_PAUSE_MS = 1_000;

export type DeliverOptions = DecideOptions & AttemptOptions;

/** `askedAt` is a time of the monotonic clock. */
type Found = { target: DeliveryTarget; askedAt: number };

/** What is to be done with a delivery now: attempt it, or what it comes to without. */
type Decision =
  | (Found & { kind: 'attempt'; end: (Admission & { kind: 'granted' })['end'] })
  | { kind: 'none'; caused: Outgoing[] };

/**
 * One attempt at a delivery: asks for its receiver now, sends it, and says what follows: nothing more, the next
 * attempt after its delay, or the end. Where the endpoint takes no more at this moment the delivery is parked as it is;
 * where a key is missing it waits in the broker, as it is.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  return async (delivery) => {
    if (delivery.mayBeParked && (await options.isParked(delivery))) return [];
    const decision = await decide(delivery, options);
    return decision.kind === 'none' ? decision.caused : makeAttempt(delivery, decision, options);
  };
}

/** Finds the receiver of a delivery now, or how it ends without an attempt, whatever the endpoint does. */
function look(delivery: Delivery, options: DecideOptions): Promise<Found | Attempted> {
  const askedAt = options.clock.now();
  return options.findTarget(delivery.subscription).then((target) => judge(delivery, { target, askedAt }, options));
}

type Asked = { target: DeliveryTarget | undefined; askedAt: number };

function judge(delivery: Delivery, { target, askedAt }: Asked, { maxAgeMs, now }: DecideOptions): Found | Attempted {
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
  const found = await look(delivery, options);
  if ('kind' in found) return { kind: 'none', caused: [{ kind: 'outcome', outcome: found }] };
  const { target } = found;
  if (target.missingKey !== undefined) {
    options.onKeyMissing(target.missingKey);
    // Not parked: what is parked may become too much, and be over before the key comes.
    return { kind: 'none', caused: [publishWaiting(delivery)] };
  }
  const [key, enteredAt] = [endpointKey(target), clock.now()];
  const admission = await admit({ ...key, isKnownHung: target.isHung }, originOf(delivery));
  if (admission.kind === 'full')
    return { kind: 'none', caused: [park(delivery, { account: target.account, why: admission.why })] };
  if (clock.now() - enteredAt <= OLD_MS) return { kind: 'attempt', ...found, end: admission.end };
  // It waited in hand: since then the subscription may have ended, or lead elsewhere.
  const present = await look(delivery, options).catch((error: unknown) => {
    admission.end('unused');
    throw error;
  });
  if (!('kind' in present) && isCalledAt(present.target, key)) {
    return { kind: 'attempt', ...present, end: admission.end };
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
  { target, askedAt, end }: Attempting,
  options: AttemptOptions,
): Promise<Outgoing[]> {
  const { callEndpoint, schedule, slowMs, onRevived, clock, now } = options;
  const { callbackUrl, verificationToken, signingSecrets, isHung, account } = target;
  const retryMs = retryDelayMs(schedule, delivery);
  const beganAt = delivery.attempt === firstAttempt(delivery) ? now() : delivery.beganAt;
  const begun = { ...delivery, beganAt };
  // What is thrown is not the receiver's doing, and says nothing of it.
  let [speed, said]: [ResponseSpeed | 'unused', TooMuch?] = ['unused'];
  try {
    const called = await callEndpoint({
      delivery: begun,
      callbackUrl,
      verificationToken,
      signingSecrets,
      isLast: retryMs === undefined,
    });
    const { isDelivered, isOurs, tooMuch, ...answer } = called;
    [speed, said] = [isOurs ? 'hung' : responseSpeed(called, slowMs), tooMuch];
    // It waits as one whose endpoint hangs, which single requests ask again; a test is to say what is so now.
    if (isOurs && delivery.byHand?.why !== 'test') {
      return [park(delivery, { account, why: 'egress', notBeforeMs: EGRESS_PAUSE_MS })];
    }
    if (!isDelivered) return afterFailure(begun, answer, options);
    if (isHung && delivery.byHand !== undefined) onRevived(delivery.subscription);
    const reportsSuccess = target.reportsSuccess || clock.now() - askedAt > TOO_OLD_TO_SAY_MS;
    return recordWithEnd({ kind: 'delivered', ...facts(delivery, now()), beganAt, answer }, { reportsSuccess });
  } finally {
    end(speed, said && { ...said, retryMs });
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
