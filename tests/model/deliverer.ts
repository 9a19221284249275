import type { CallEndpoint } from '@waybell/deliverer/call-endpoint';
import { readConfig, type Config } from '@waybell/deliverer/config';
import { deliverStep, type DeliverStepOptions } from '@waybell/deliverer/deliver-step';
import type { Delivery } from '@waybell/line/delivery';
import type { Rules } from '@waybell/line/hand-over/state';
import { isRejection, type Outgoing } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { DELIVERIES, GUIDS, storedOf, type DeliveryName } from './copies.ts';

/** How an attempt may end: the receiver takes it or does not, or nobody is to receive it any more. */
export type AnswerKind = 'delivered' | 'failed' | 'dropped';

/** What handling an attempt costs and causes. */
export type Handled = { requests: number; caused: Outgoing[] };

/** The deliverer's step as it is in the product, all of whose handling has been done beforehand. */
export type Deliverer = {
  rules: Rules<Delivery>;
  handled: (delivery: Delivery, answer: AnswerKind) => Handled;
};

const clock = new TurnedClock(0);

/** Has the step handle every attempt that it asks for itself, up to one beyond the last. */
export async function readDeliverer({ retries }: { retries: number }): Promise<Deliverer> {
  const config = configWith(retries);
  const rules = { ...realStep(config, { findTarget: async () => TARGET, callEndpoint: never }), now: clock.now };
  const known = new Map<string, Record<AnswerKind, Handled>>();
  const keyOf = (delivery: Delivery) => rules.once?.keyOf(delivery).key ?? '';
  for (const first of DELIVERIES.map(firstAttempt)) {
    let delivery: Delivery | undefined = first;
    while (delivery !== undefined && delivery.attempt <= retries + 2) {
      const row = await handleEachWay(delivery, config);
      known.set(keyOf(delivery), row);
      delivery = retryIn(row.failed, rules);
    }
  }
  const handled: Deliverer['handled'] = (delivery, answer) => {
    const row = known.get(keyOf(delivery));
    if (row === undefined) throw new Error(`nothing is known of ${keyOf(delivery)}`);
    return row[answer];
  };
  return { rules, handled };
}

function configWith(retries: number): Config {
  const delays = Array.from({ length: retries }, (_, index) => `${index + 1}s`).join();
  return readConfig({ ...SETTINGS, CARRIER_RETRY_DELAYS: delays });
}

function realStep(config: Config, edges: Pick<DeliverStepOptions, 'findTarget' | 'callEndpoint'>): Step<Delivery> {
  return deliverStep({
    ...edges,
    // An endpoint with room, whatever was before.
    enter: async () => ({ kind: 'granted', end: () => undefined }),
    isParked: async () => false,
    isHeld: () => true,
    isBlocked: () => false,
    onRevived: () => undefined,
    config,
    now: clock.now,
  });
}

async function handleEachWay(delivery: Delivery, config: Config): Promise<Record<AnswerKind, Handled>> {
  const handle = async (answer: AnswerKind): Promise<Handled> => {
    let requests = 0;
    const step = realStep(config, {
      findTarget: async () => (answer === 'dropped' ? undefined : TARGET),
      callEndpoint: async () => {
        requests += 1;
        return { isDelivered: answer === 'delivered', durationMs: 0 };
      },
    });
    const caused = await step.handle(delivery);
    return { requests, caused };
  };
  return { delivered: await handle('delivered'), failed: await handle('failed'), dropped: await handle('dropped') };
}

/** The attempt that follows, as the step will read it. */
function retryIn({ caused }: Handled, { parse }: Rules<Delivery>): Delivery | undefined {
  const publication = caused.find((outgoing) => outgoing.kind === 'publish');
  const [copy] = publication === undefined ? [] : storedOf(publication).copies;
  if (copy === undefined) return undefined;
  const retry = parse(copy.message);
  return isRejection(retry) ? undefined : retry;
}

/** Of a delivery before its first attempt. */
export function firstAttempt(delivery: DeliveryName): Delivery {
  return {
    guid: GUIDS[delivery],
    interface: 'carrier',
    action: 'order.created',
    subscription: SUBSCRIPTION,
    generation: 1,
    event: SUBSCRIPTION,
    attempt: 1,
    createdAt: 0,
    beganAt: 0,
    body: Buffer.from('{}'),
  };
}

const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const TARGET = {
  state: 'active',
  isFeatureOn: true,
  isHung: false,
  account: '0b9c2f6e-7d1f-4e57-8f5e-000000000002',
  callbackUrl: 'https://example.com',
  verificationToken: 'token',
  signingSecrets: [],
} as const;

const never: CallEndpoint = () => Promise.reject(new Error('nobody calls'));

const SETTINGS = {
  DELIVER_ACTIONS: 'carrier.order.created',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
