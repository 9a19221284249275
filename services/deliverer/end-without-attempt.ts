import { firstAttempt, type Delivery } from '@waybell/line/delivery';
import type { Answer, Attempted, DeliveryFacts, Exhausted } from '@waybell/line/outcomes';
import type { DropReason, UnattemptedReason } from '@waybell/line/reasons';
import type { Hold } from './endpoints/endpoint.ts';
import type { DeliveryTarget } from './find-target.ts';

/** `maxAgeMs`: a delivery older than this is exhausted, `expired`, without another attempt. `now`: in milliseconds since 1970. */
export type EndOptions = { maxAgeMs: number; now: () => number };

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
export function tooOldAt(createdAt: number, maxAgeMs: number): number {
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

export function exhausted(
  delivery: Delivery,
  why: { answer: Answer } | { reason: UnattemptedReason },
  at: number,
): Exhausted {
  const { beganAt, body } = delivery;
  return { kind: 'exhausted', ...factsOf(delivery, at), beganAt, ...why, body };
}

/** Returns the facts in every record of a delivery. */
export function factsOf(delivery: Delivery, at: number): DeliveryFacts {
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
