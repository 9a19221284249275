import type { CallEndpoint } from '@waybell/deliverer/call-endpoint';
import { readConfig } from '@waybell/deliverer/config';
import { deliverStep } from '@waybell/deliverer/deliver-step';
import type { FindTarget } from '@waybell/deliverer/find-target';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { openFlow } from '@waybell/deliverer/windows/flow';
import type { Delivery } from '@waybell/line/delivery';
import { isRejection, type Message, type Outgoing, type Publication } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';

/** How an attempt may end: the receiver takes it or does not, or nobody is to receive it any more. */
export type AnswerKind = 'delivered' | 'failed' | 'dropped';

/** What handling an attempt caused. Attempts, by their numbers, and ends, by their kinds. */
export type Caused = { requests: number; retries: number[]; ends: string[]; isToBeRemembered: boolean };

/** What the deliverer's step does with an attempt of a delivery. */
export type AttemptRow = { key: string; handled: Record<AnswerKind, Caused>; repeated: Caused };

/** By delivery and attempt, as the step itself says. */
export type StepTable = (delivery: number, attempt: number) => AttemptRow;

type DeliverStep = Step<Delivery>;
type Size = { deliveries: number; retries: number };
type Around = { findTarget: FindTarget; callEndpoint: CallEndpoint; retries: number };

const clock = new TurnedClock(0);

/** The deliverer's step as it is in the product, with so many retries. */
function realStep({ findTarget, callEndpoint, retries }: Around): DeliverStep {
  const delays = Array.from({ length: retries }, (_, index) => `${index + 1}s`).join();
  const config = readConfig({ ...ADDRESSES, CARRIER_RETRY_DELAYS: delays, DELIVER_ACTIONS: 'carrier.order.created' });
  // A window of its own each time: a receiver that failed once must not turn the next attempt away.
  return deliverStep({ findTarget, callEndpoint, config, flow: openFlow(config.flow, clock), now: clock.now });
}

/** Asks the step what it does with attempts up to one beyond the last. */
export async function readStepTable({ deliveries, retries }: Size): Promise<StepTable> {
  const rows = new Map<string, AttemptRow>();
  for (let delivery = 0; delivery < deliveries; delivery += 1) {
    for (let attempt = 1; attempt <= retries + 2; attempt += 1) {
      rows.set(`${delivery} ${attempt}`, await readRow(retries, aDelivery(delivery, attempt)));
    }
  }
  return (delivery, attempt) => {
    const row = rows.get(`${delivery} ${attempt}`);
    if (row === undefined) throw new Error(`nothing is known of attempt ${attempt} of delivery ${delivery}`);
    return row;
  };
}

async function readRow(retries: number, delivery: Delivery): Promise<AttemptRow> {
  const handled = async (answer: AnswerKind) => {
    let requests = 0;
    const step = realStep({
      retries,
      findTarget: async () => (answer === 'dropped' ? undefined : TARGET),
      callEndpoint: async () => {
        requests += 1;
        return { isDelivered: answer === 'delivered', durationMs: 0 };
      },
    });
    return summary(step, await step.handle(delivery), requests);
  };
  const step = realStep({ retries, findTarget: async () => undefined, callEndpoint: never });
  if (step.once === undefined) throw new Error('the step remembers nothing');
  return {
    key: step.once.keyOf(delivery).key,
    repeated: summary(step, step.once.onRepeat(delivery, true), 0),
    handled: {
      delivered: await handled('delivered'),
      failed: await handled('failed'),
      dropped: await handled('dropped'),
    },
  };
}

function summary(step: DeliverStep, caused: Outgoing[], requests: number): Caused {
  return {
    requests,
    retries: caused.flatMap((outgoing) => (outgoing.kind === 'publish' ? [attemptOf(step, outgoing)] : [])),
    ends: caused.flatMap((outgoing) => (outgoing.kind === 'outcome' ? [outgoing.outcome.kind] : [])),
    isToBeRemembered: step.once?.isWorthRemembering(caused) ?? false,
  };
}

function attemptOf(step: DeliverStep, publication: Publication): number {
  const delivery = step.parse(arrived(publication));
  if (isRejection(delivery)) throw new Error(`the step does not know its own retry: ${delivery.detail}`);
  return delivery.attempt;
}

/** What the broker brings of a publication. */
function arrived({ kind: _kind, headers: _headers, ...publication }: Publication): Message {
  return { ...publication, queue: 'q', deliveryCount: 0, failures: 0 };
}

const guids = ['0b9c2f6e-7d1f-4e57-8f5e-00000000000a', '0b9c2f6e-7d1f-4e57-8f5e-00000000000b'];

function aDelivery(delivery: number, attempt: number): Delivery {
  return {
    guid: guids[delivery] ?? '',
    interface: 'carrier',
    action: 'order.created',
    subscription: SUBSCRIPTION,
    generation: 1,
    event: SUBSCRIPTION,
    attempt,
    createdAt: 0,
    beganAt: 0,
    body: Buffer.from('{}'),
  };
}

const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const TARGET = {
  state: 'active',
  isFeatureOn: true,
  account: '0b9c2f6e-7d1f-4e57-8f5e-000000000002',
  callbackUrl: 'https://example.com',
  verificationToken: 'token',
  signingSecrets: [],
} as const;

const never: CallEndpoint = () => Promise.reject(new Error('nobody calls'));

const ADDRESSES = {
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
