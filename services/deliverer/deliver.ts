import { firstAttempt, publishRetry, publishWaiting, type Delivery } from '@waybell/line/delivery';
import type { Handler, Outgoing } from '@waybell/line/messages';
import type { Answer, Attempted, DeliveryFacts, DropReason } from '@waybell/line/outcomes';
import type { Schedule } from '@waybell/line/line-topology';
import type { WaitingLane } from '@waybell/line/topology';
import type { CallEndpoint } from './call-endpoint.ts';
import type { FindTarget, Target } from './find-target.ts';
import { originKey } from './origin-key.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { endingOf } from './windows/ending.ts';
import type { Entry, OriginKey } from './windows/origin.ts';
import type { Ending } from './windows/window.ts';

export type DecideOptions = {
  findTarget: FindTarget;
  /** Asks for a slot for one request to the origin of this key. */
  enter: (key: OriginKey) => Promise<Entry>;
  /** A delivery older than this is exhausted, `expired`, without another attempt. */
  maxAgeMs: number;
  now: () => number;
};

export type AttemptOptions = { callEndpoint: CallEndpoint; schedule: Schedule; slowMs: number; now: () => number };

export type DeliverOptions = DecideOptions & AttemptOptions;

/** A delivery as it was taken from a queue: of its action, or of a waiting lane. */
export type Taken = Delivery & { lane?: WaitingLane };

/** What is to be done with a delivery now: attempt it, let it wait unattempted, or nothing more. */
export type Decision =
  | { kind: 'attempt'; delivery: Taken; target: Target; end: (ending: Ending) => void }
  | { kind: 'aside'; caused: Outgoing[] }
  | { kind: 'over'; caused: Outgoing[] };

export type Decide = (delivery: Taken) => Promise<Decision>;
export type Attempt = (decision: Decision & { kind: 'attempt' }) => Promise<Outgoing[]>;

/**
 * One attempt at a delivery: asks who is to receive it now, sends it, and says what follows: nothing more, the next
 * attempt after its delay, or the end. Where the receiver takes no more at this moment the delivery moves to a waiting
 * lane as it is.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  const decide = deciding(options);
  const attempt = attempting(options);
  return async (delivery) => {
    const decision = await decide(delivery);
    return decision.kind === 'attempt' ? attempt(decision) : decision.caused;
  };
}

export function deciding({ findTarget, enter, maxAgeMs, now }: DecideOptions): Decide {
  return async (delivery) => {
    const target = await findTarget(delivery.subscription);
    const dropped = dropReason(target);
    if (target === undefined || dropped !== undefined) {
      const reason = dropped ?? 'unsubscribed';
      const { body } = delivery;
      return {
        kind: 'over',
        caused: [record({ kind: 'dropped', reason, ...facts(delivery, now()), body: body.toString() })],
      };
    }
    if (now() - delivery.createdAt > maxAgeMs) {
      return { kind: 'over', caused: [exhausted(delivery, { reason: 'expired', durationMs: 0 }, now())] };
    }
    const entry = await enter(originKey(target));
    if (entry.kind === 'full') return { kind: 'aside', caused: [publishWaiting(delivery, entry.lane)] };
    return { kind: 'attempt', delivery, target, end: entry.end };
  };
}

export function attempting({ callEndpoint, schedule, slowMs, now }: AttemptOptions): Attempt {
  return async ({ delivery, target: { callbackUrl, verificationToken, signingSecrets }, end }) => {
    const beganAt = delivery.attempt === firstAttempt(delivery) ? now() : delivery.beganAt;
    const begun = { ...delivery, beganAt };
    // What is thrown is not the receiver's doing, and says nothing against it.
    let ending: Ending = 'quick';
    try {
      const { isDelivered, ...answer } = await callEndpoint({
        delivery: begun,
        callbackUrl,
        verificationToken,
        signingSecrets,
      });
      ending = endingOf({ isDelivered, ...answer }, slowMs);
      if (isDelivered) return [record({ kind: 'delivered', ...facts(delivery, now()), beganAt, answer })];
      return afterFailure(begun, answer, retryDelayMs(schedule, begun), now());
    } finally {
      end(ending);
    }
  };
}

function afterFailure(delivery: Taken, answer: Answer, delayMs: number | undefined, at: number): Outgoing[] {
  if (delayMs === undefined) return [exhausted(delivery, answer, at)];
  const { beganAt } = delivery;
  return [
    publishRetry({ ...delivery, attempt: delivery.attempt + 1, dueAt: at + delayMs }, delayMs),
    record({ kind: 'failed', ...facts(delivery, at), beganAt, answer, retryAt: at + delayMs }),
  ];
}

function dropReason(target: Target | undefined): DropReason | undefined {
  if (target === undefined || target.state === 'ended') return 'unsubscribed';
  if (target.state === 'deactivated') return 'deactivated';
  return target.isFeatureOn ? undefined : 'feature_off';
}

function exhausted(delivery: Taken, answer: Answer, at: number): Outgoing {
  const { beganAt, body } = delivery;
  return record({ kind: 'exhausted', ...facts(delivery, at), beganAt, answer, body: body.toString() });
}

function facts(delivery: Taken, at: number): DeliveryFacts {
  const { guid, subscription, generation, event, interface: interfaceName, action, attempt } = delivery;
  const { lane, byHand, body } = delivery;
  const known = { delivery: guid, subscription, generation, event, interface: interfaceName, action, attempt, at };
  return {
    ...known,
    ...(lane === undefined ? {} : { lane }),
    ...(byHand === undefined ? {} : { byHand: byHand.why }),
    ...(attempt === firstAttempt(delivery) ? { body: body.toString() } : {}),
  };
}

function record(outcome: Attempted): Outgoing {
  return { kind: 'outcome', outcome };
}
