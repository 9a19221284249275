import { publishRetry, type Delivery } from '@waybell/line/delivery';
import type { Handler, Outgoing } from '@waybell/line/messages';
import type { Answer, Attempted, DeliveryFacts, DropReason } from '@waybell/line/outcomes';
import type { Schedule } from '@waybell/line/schedule';
import type { CallEndpoint } from './call-endpoint.ts';
import type { FindTarget, Target } from './find-target.ts';
import { retryDelayMs } from './retry-schedule.ts';

export type DeliverOptions = {
  findTarget: FindTarget;
  callEndpoint: CallEndpoint;
  schedule: Schedule;
  /** A delivery older than this is exhausted, `expired`, without another attempt. */
  maxAgeMs: number;
  now: () => number;
};

/**
 * One attempt at a delivery: asks who is to receive it now, sends it, and says what follows: nothing more, the next
 * attempt after its delay, or the end.
 */
export function deliver({ findTarget, callEndpoint, schedule, maxAgeMs, now }: DeliverOptions): Handler<Delivery> {
  return async (delivery) => {
    const target = await findTarget(delivery.subscription);
    const dropped = dropReason(target);
    if (target === undefined || dropped !== undefined) {
      return [record({ kind: 'dropped', reason: dropped ?? 'unsubscribed', ...facts(delivery, now()) })];
    }
    if (now() - delivery.createdAt > maxAgeMs)
      return [exhausted(delivery, { reason: 'expired', durationMs: 0 }, now())];

    const beganAt = delivery.attempt === 1 ? now() : delivery.beganAt;
    const begun = { ...delivery, beganAt };
    const { callbackUrl, verificationToken } = target;
    const { isDelivered, ...answer } = await callEndpoint({ delivery: begun, callbackUrl, verificationToken });
    if (isDelivered) return [record({ kind: 'delivered', ...facts(delivery, now()), beganAt, answer })];
    return afterFailure(begun, answer, retryDelayMs(schedule, begun), now());
  };
}

function afterFailure(delivery: Delivery, answer: Answer, delayMs: number | undefined, at: number): Outgoing[] {
  if (delayMs === undefined) return [exhausted(delivery, answer, at)];
  const { beganAt } = delivery;
  return [
    publishRetry({ ...delivery, attempt: delivery.attempt + 1 }, delayMs),
    record({ kind: 'failed', ...facts(delivery, at), beganAt, answer, retryAt: at + delayMs }),
  ];
}

function dropReason(target: Target | undefined): DropReason | undefined {
  if (target === undefined || target.state === 'ended') return 'unsubscribed';
  if (target.state === 'deactivated') return 'deactivated';
  return target.isFeatureOn ? undefined : 'feature_off';
}

function exhausted(delivery: Delivery, answer: Answer, at: number): Outgoing {
  const { beganAt, body } = delivery;
  return record({ kind: 'exhausted', ...facts(delivery, at), beganAt, answer, body: body.toString() });
}

function facts(delivery: Delivery, at: number): DeliveryFacts {
  const { guid, subscription, generation, event, interface: interfaceName, action, attempt } = delivery;
  return { delivery: guid, subscription, generation, event, interface: interfaceName, action, attempt, at };
}

function record(outcome: Attempted): Outgoing {
  return { kind: 'outcome', outcome };
}
