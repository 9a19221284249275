import { shownUrl } from '@waybell/notifications/callback';
import type { Clock } from '@waybell/runtime/clock';
import { firstAttempt, publishRetry, wait, type Delivery } from '@waybell/line/delivery';
import { recordWithEnd } from '@waybell/line/outcome-batch';
import type { Schedule } from '@waybell/line/line-topology';
import type { End, Fate, Outgoing } from '@waybell/line/messages';
import type { Answer, Delivered } from '@waybell/line/outcomes';
import type { GrantedRequest } from './endpoints/endpoint.ts';
import { responseSpeed } from './endpoints/response-speed.ts';
import type { DeliveryTarget } from './find-target.ts';
import type { AttemptResult } from './request/attempt.ts';
import type { CallEndpoint } from './request/call-endpoint.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { exhausted, factsOf } from './end-without-attempt.ts';

export type AttemptOptions = {
  callEndpoint: CallEndpoint;
  schedule: Schedule;
  slowMs: number;
  clock: Pick<Clock, 'now'>;
  now: () => number;
};

/** An older look-up does not show whether a success matters. The deactivator's window may be off by as much. */
const STALE_LOOK_UP_MS = 1_000;
/** Pause before a delivery is tried again; meanwhile others to its endpoint may get through. */
const EGRESS_PAUSE_MS = 1_000;

/** A delivery that is attempted now. `askedAt`: when its target was looked up, by the monotonic clock. */
export type Attempting = {
  delivery: Delivery;
  target: DeliveryTarget;
  /** Present if its credentials need one. */
  accessToken?: string;
  askedAt: number;
  admission: GrantedRequest;
  end: End;
};

/** `beganAt`: start of its first attempt, in milliseconds since 1970. */
type Begun = Attempting & { beganAt: number };

/** Makes one request. Ends the delivery, and what its endpoint admitted, when that has ended. Throws nothing. */
export function makeAttempt(attempting: Attempting, options: AttemptOptions): void {
  const { delivery, target, accessToken } = attempting;
  const { callbackUrl, verificationToken, signingSecrets, credentials } = target;
  const isLast = retryDelayMs(options.schedule, delivery) === undefined;
  const begun = begin(attempting, options);
  const request = { delivery, callbackUrl, verificationToken, signingSecrets, credentials, accessToken, isLast };
  try {
    options.callEndpoint(request, (result) => {
      if (result instanceof Error) fail(attempting, result);
      else endAttempt(begun, result, options);
    });
  } catch (error) {
    fail(attempting, error);
  }
}

/** Ends an attempt whose request cannot be made, as its receiver could not be authenticated to. */
export function failAttempt(attempting: Attempting, result: AttemptResult, options: AttemptOptions): void {
  endAttempt(begin(attempting, options), result, options);
}

function begin(attempting: Attempting, { now }: AttemptOptions): Begun {
  const { delivery } = attempting;
  return { ...attempting, beganAt: delivery.attempt === firstAttempt(delivery) ? now() : delivery.beganAt };
}

function endAttempt(begun: Begun, result: AttemptResult, options: AttemptOptions): void {
  const { delivery, admission, end } = begun;
  const { tooMuch } = result;
  const speed = result.isOurs ? 'hung' : responseSpeed(result, options.slowMs);
  admission.end(speed, tooMuch && { ...tooMuch, retryMs: retryDelayMs(options.schedule, delivery) });
  end(fateOf(result, begun, options));
}

/** An error says nothing about the receiver. */
export function fail({ admission, end }: Attempting, error: unknown): void {
  admission.end('unused');
  end({ kind: 'failed', error });
}

function fateOf(result: AttemptResult, begun: Begun, options: AttemptOptions): Fate {
  try {
    return { kind: 'done', caused: causedBy(result, begun, options) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** Returns what an attempt causes. */
function causedBy(
  result: AttemptResult,
  { delivery, target, askedAt, beganAt }: Begun,
  options: AttemptOptions,
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

function afterFailure(delivery: Delivery, answer: Answer, { schedule, now }: AttemptOptions): Outgoing[] {
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
