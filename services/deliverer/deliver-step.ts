import { deliveryQueue, WAITING_LANES, waitingQueue } from '@waybell/line/topology';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import type { OncePolicy } from '@waybell/line/once';
import { recordRejectedDelivery } from '@waybell/line/delivery';
import type { Step } from '@waybell/line/run-step';
import type { Config } from './config.ts';
import { deliver, type DeliverOptions } from './deliver.ts';
import { deliverWaiting, readWaiting, type Waiting } from './deliver-waiting.ts';
import type { Flow } from './windows/flow.ts';

export type DeliverStepOptions = Pick<DeliverOptions, 'findTarget' | 'callEndpoint' | 'now'> & {
  config: Pick<Config, 'actionKeys' | 'heldLimit' | 'flow' | 'schedule' | 'maxAgeMs' | 'rememberMs'>;
  flow: Flow;
};

/** The deliverer's place on the line: what it takes, how much at once, and how it knows an attempt it has made. */
export function deliverStep(options: DeliverStepOptions): Step<Delivery> {
  const { actionKeys, heldLimit } = options.config;
  return {
    name: 'deliverer',
    queues: actionKeys.map(deliveryQueue),
    heldLimit,
    parse: readDelivery,
    handle: deliver(deliverOptions(options)),
    drainsWhileBlocked: true,
    recordRejection: recordRejectedDelivery(options.now),
    ...recognised(options),
  };
}

/** The lanes of those that wait, of whatever action: any deliverer serves them. */
export function waitingStep(options: DeliverStepOptions): Step<Waiting> {
  const { flow, heldLimit } = options.config;
  return {
    name: 'waiting',
    queues: WAITING_LANES.map(waitingQueue),
    // Room for all that can be under way at once, and for as many that wait for their turn.
    heldLimit: { messages: 2 * flow.slots, bytes: heldLimit.bytes },
    parse: readWaiting,
    handle: deliverWaiting({ ...deliverOptions(options), paces: options.flow.paces }),
    drainsWhileBlocked: true,
    recordRejection: recordRejectedDelivery(options.now),
    ...recognised(options),
  };
}

function deliverOptions({ config, flow, ...rest }: DeliverStepOptions): DeliverOptions {
  const { schedule, maxAgeMs } = config;
  return { ...rest, enter: (key) => flow.windows.enter(key), schedule, maxAgeMs, slowMs: config.flow.slowMs };
}

function recognised({ config }: DeliverStepOptions): Pick<Step<Delivery>, 'describe'> & { once: OncePolicy<Delivery> } {
  return {
    once: {
      // What was handed over just before a crash, to a retry queue or to a waiting lane, must not be handed over again:
      // that would fork the delivery.
      keyOf: (delivery) => ({ key: attemptKey(delivery), fingerprint: '1' }),
      ttlMs: config.rememberMs,
      onRepeat: () => [],
      isWorthRemembering: (caused) =>
        caused.some((outgoing) => outgoing.kind !== 'outcome' || outgoing.outcome.kind !== 'dropped'),
    },
    describe: ({ guid: delivery, subscription, event, attempt, byHand }) => {
      const known = { delivery, subscription, event, attempt };
      return byHand === undefined ? known : { ...known, byHand: byHand.why };
    },
  };
}

function attemptKey({ guid, attempt, byHand, createdAt, timesAside = 0 }: Delivery): string {
  // What was dropped or expired, waiting, had a number for an attempt that was not made: by hand it is made after all.
  const hand = byHand === undefined ? '' : `:${byHand.why}:${createdAt}`;
  const aside = timesAside === 0 ? '' : `:${timesAside}`;
  return `attempt:${guid}:${attempt}${hand}${aside}`;
}
