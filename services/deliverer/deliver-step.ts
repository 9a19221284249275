import { type Delivery, readDelivery, reportRejectedDelivery } from '@waybell/line/delivery';
import { weighOpened } from '@waybell/line/delivery-batch';
import type { Outgoing } from '@waybell/line/messages';
import type { OncePolicy } from '@waybell/line/once';
import type { Step } from '@waybell/line/run-step';
import { deliveryQueue, waitingExchange } from '@waybell/line/topology';
import type { Config } from './config.ts';
import { deliver, type DeliverOptions } from './deliver.ts';

export type DeliverStepOptions = Omit<DeliverOptions, 'schedule' | 'maxAgeMs' | 'slowMs'> & {
  config: Pick<Config, 'actionKeys' | 'inHandLimit' | 'flow' | 'schedule' | 'maxAgeMs' | 'rememberMs'>;
};

/** The deliverer's step: its queues, limits, and how it recognises an attempt that was made. */
export function deliverStep({ config, ...options }: DeliverStepOptions): Step<Delivery> {
  const { actionKeys, inHandLimit, schedule, maxAgeMs } = config;
  return {
    name: 'deliverer',
    queues: actionKeys.map(deliveryQueue),
    inHandLimit: { ...inHandLimit, weigh: weighOpened },
    parse: readDelivery,
    handle: deliver({ ...options, schedule, maxAgeMs, slowMs: config.flow.slowMs }),
    drainsWhileBlocked: true,
    reportRejection: reportRejectedDelivery(options.now),
    once: onceOf(config),
    dueAt: ({ dueAt, createdAt }) => dueAt ?? createdAt,
    describe: ({ guid: delivery, subscription, event, attempt, byHand }) => {
      const known = { delivery, subscription, event, attempt };
      return byHand === undefined ? known : { ...known, byHand: byHand.why };
    },
  };
}

/**
 * Recognises attempts whose result was published just before a crash, as to a retry queue: publishing it twice would fork the
 * delivery. That one waits is not remembered: it is no attempt.
 */
export function onceOf({ rememberMs }: Pick<Config, 'rememberMs'>): OncePolicy<Delivery> {
  return {
    keyOf: (delivery) => ({ key: attemptKey(delivery), fingerprint: '' }),
    ttlMs: rememberMs,
    onRepeat: () => [],
    isWorthRemembering: (caused) => caused.some(isOfAttempt),
  };
}

function isOfAttempt(outgoing: Outgoing): boolean {
  if (outgoing.kind === 'publish') return outgoing.exchange !== waitingExchange;
  return outgoing.kind !== 'wait' && (outgoing.kind !== 'outcome' || outgoing.outcome.kind !== 'dropped');
}

function attemptKey({ guid, attempt, byHand, createdAt }: Delivery): string {
  // A delivery dropped or expired while waiting used a number without an attempt: by hand that attempt is made after all.
  const hand = byHand === undefined ? '' : `:${byHand.why}:${createdAt}`;
  // Differs from `attempt:`, which releases up to 0.2.0 used for deliveries that wait.
  return `attempted:${guid}:${attempt}${hand}`;
}
