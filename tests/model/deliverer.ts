import type { CallEndpoint } from '@waybell/deliverer/request/call-endpoint';
import { readConfig, type Config } from '@waybell/deliverer/config';
import { deliverStep } from '@waybell/deliverer/deliver-step';
import { NO_TOKENS } from '@waybell/deliverer/testing/no-tokens';
import { publishDelivery, publishInstead, type Delivery } from '@waybell/line/delivery';
import { publishSuspect } from '@waybell/line/hand-over/suspicion';
import type { StepRules } from '@waybell/line/hand-over/state';
import { withDelayElapsed, isRejection, noResult, type Message, type Outgoing } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';
import { causedBy } from '@waybell/line/testing/handled';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { aDelivery } from '@waybell/deliverer/testing/delivery';
import { DELIVERIES, GUIDS, membersOf, storedOf, returned, type Copy, type DeliveryName } from './copies.ts';
import { copyOf, openRow } from './rows.ts';

/**
 * How handling may go: the receiver takes it or does not; no subscription is to receive it any more; its endpoint has no room; or
 * it waits in the room already.
 */
export type AnswerKind = keyof typeof ANSWERS;

/** Cost and effects of handling an attempt, perhaps in parts. */
export type Handled = { requests: number; caused: Outgoing[] | { parts: Outgoing[][] } };

/** The deliverer's step as it is in the product, all of whose handling has been done beforehand. */
export type Deliverer = {
  rules: StepRules<Delivery>;
  handled: (delivery: Delivery, answer: AnswerKind) => Handled;
};

const ANSWERS = {
  delivered: { isDelivered: true },
  failed: {},
  dropped: { hasTarget: false },
  full: { hasCapacity: false },
  'waits already': { isWaiting: true },
} satisfies Record<string, Surroundings>;

type Surroundings = {
  isDelivered?: boolean;
  hasTarget?: boolean;
  hasCapacity?: boolean;
  isWaiting?: boolean;
};

const clock = new TurnedClock(0);

/** Has the step handle every attempt that it asks for itself, up to one beyond the last. */
export async function readDeliverer({ retries }: { retries: number }): Promise<Deliverer> {
  const config = configWith(retries);
  const rules = { ...realStep(config, { hasTarget: true }, never), hasRooms: true, hasLane: true, now: clock.now };
  const known = new Map<string, Handled>();
  const deliveries = DELIVERIES.map(firstAttempt)
    .flatMap((delivery) => comings(storedOf(publishDelivery(delivery)).copies))
    .flatMap((message) => parsed(message, rules));
  const seen = new Set<string>();
  // It grows meanwhile.
  for (const delivery of deliveries) {
    if (seen.has(handledKey(delivery)) || delivery.attempt > retries + 2) continue;
    seen.add(handledKey(delivery));
    for (const answer of answerKinds) {
      const handled = await handle(delivery, config, ANSWERS[answer]);
      known.set(handledKey(delivery, answer), handled);
      const waiting: Outgoing = { kind: 'wait', row: openRow(delivery) };
      const next = [...handled.caused, waiting].flatMap(messagesOf).flatMap((message) => parsed(message, rules));
      deliveries.push(...next);
    }
  }
  const handled: Deliverer['handled'] = (delivery, answer) => {
    const found = known.get(handledKey(delivery, answer));
    if (found === undefined) throw new Error(`nothing is known of ${handledKey(delivery, answer)}`);
    return found;
  };
  return { rules, handled };
}

// An object has the keys that it was written with.
const answerKinds = Object.keys(ANSWERS) as AnswerKind[];

function handledKey({ guid, attempt, waited, mayWait }: Delivery, ...how: string[]): string {
  return [guid, attempt, waited?.why, mayWait, ...how].join();
}

function configWith(retries: number): Config {
  const delays = Array.from({ length: retries }, (_, index) => `${index + 1}s`).join();
  return readConfig({ ...SETTINGS, CARRIER_RETRY_DELAYS: delays });
}

function realStep(config: Config, around: Surroundings, callEndpoint: CallEndpoint): Step<Delivery> {
  const { hasTarget = true, hasCapacity = true, isWaiting = false } = around;
  return deliverStep({
    tokens: NO_TOKENS,
    callEndpoint,
    findTargets: async (guids) => guids.map(() => (hasTarget ? TARGET : undefined)),
    admit: (_key, _origin, onAdmitted) =>
      onAdmitted(hasCapacity ? { kind: 'granted', end: () => undefined } : { kind: 'full', why: 'full' }),
    retain: async () => isWaiting,
    onMoved: () => undefined,
    onKeyMissing: () => undefined,
    config,
    clock,
    now: clock.now,
  });
}

type HandledAtOnce = Handled & { caused: Outgoing[] };

async function handle(delivery: Delivery, config: Config, around: Surroundings): Promise<HandledAtOnce> {
  let requests = 0;
  const step = realStep(config, around, (_, onEnd) => {
    requests += 1;
    onEnd({ isDelivered: around.isDelivered === true, durationMs: 0 });
  });
  return { caused: [...(await causedBy(step.handle, delivery))], requests };
}

/** Returns the forms in which its effects may arrive, set aside or taken back meanwhile. */
function messagesOf(outgoing: Outgoing): Message[] {
  if (outgoing.kind === 'publish')
    return [outgoing, withDelayElapsed(outgoing).publication].flatMap((publication) =>
      comings(storedOf(publication).copies),
    );
  if (outgoing.kind !== 'wait') return [];
  const { message } = copyOf(outgoing.row, 0);
  const instead = storedOf(publishInstead(outgoing)).copies;
  return [message, ...comings([...instead, ...storedOf(publishSuspect(message, '', 0)).copies])];
}

function comings(copies: readonly Copy[]): Message[] {
  return copies.flatMap((copy) => [copy.message, returned(copy).message]).flatMap(membersOf);
}

function parsed(message: Message, { parse }: StepRules<Delivery>): Delivery[] {
  const read = parse(message);
  return isRejection(read) ? [] : [read];
}

/** A delivery before its first attempt. */
export function firstAttempt(delivery: DeliveryName): Delivery {
  const [guid, body] = [GUIDS[delivery], Buffer.from('{}')];
  return aDelivery({ guid, subscription: SUBSCRIPTION, event: SUBSCRIPTION, body });
}

const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const TARGET = {
  state: 'active',
  isFeatureOn: true,
  isHung: false,
  reportsSuccess: false,
  account: '0b9c2f6e-7d1f-4e57-8f5e-000000000002',
  callbackUrl: 'https://example.com',
  verificationToken: 'token',
  signingSecrets: [],
} as const;

const never: CallEndpoint = (_, onEnd) => onEnd(noResult(new Error('nobody calls')));

const SETTINGS = {
  DELIVER_ACTIONS: 'carrier.order.created',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
