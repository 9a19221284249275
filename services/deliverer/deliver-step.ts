import { deliveryQueue } from '@waybell/line/topology';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import type { Step } from '@waybell/line/run-step';
import type { Config } from './config.ts';
import { deliver, type DeliverOptions } from './deliver.ts';

export type DeliverStepOptions = Pick<DeliverOptions, 'findTarget' | 'callEndpoint' | 'now'> & {
  config: Pick<Config, 'actionKeys' | 'prefetch' | 'slots' | 'schedule' | 'maxAgeMs' | 'rememberMs'>;
};

/** The deliverer's place on the line: what it takes, how much at once, and how it knows an attempt it has made. */
export function deliverStep({ config, ...options }: DeliverStepOptions): Step<Delivery> {
  return {
    service: 'deliverer',
    queues: config.actionKeys.map(deliveryQueue),
    prefetch: config.prefetch,
    slots: config.slots,
    parse: readDelivery,
    handle: deliver({ ...options, schedule: config.schedule, maxAgeMs: config.maxAgeMs }),
    once: {
      // A retry handed over just before a crash must not be handed over again: that would fork the delivery.
      keyOf: ({ guid, attempt }) => ({ key: `attempt:${guid}:${attempt}`, fingerprint: '1' }),
      ttlMs: config.rememberMs,
      onRepeat: () => [],
      isWorthRemembering: (caused) =>
        caused.some((outgoing) => outgoing.kind === 'outcome' && outgoing.outcome.kind !== 'dropped'),
    },
    describe: ({ guid, subscription, event, attempt }) => ({ delivery: guid, subscription, event, attempt }),
  };
}
