import { deliveryQueue } from '@waybell/line/topology';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import type { Step } from '@waybell/line/run-step';
import { withLastKnown } from '@waybell/runtime/last-known';
import type { Postgres } from '@waybell/runtime/postgres';
import type { CallEndpoint } from './call-endpoint.ts';
import type { Config } from './config.ts';
import { deliver } from './deliver.ts';
import { findTargetIn } from './find-target.ts';

export type DeliverStepOptions = { postgres: Postgres; callEndpoint: CallEndpoint; config: Config };

/** The deliverer's place on the line: what it takes, how much at once, and how it knows an attempt it has made. */
export function deliverStep({ postgres, callEndpoint, config }: DeliverStepOptions): Step<Delivery> {
  const now = Date.now;
  const findTarget = withLastKnown(findTargetIn(postgres, config.keyRing), { ...config.lastKnown, now });
  return {
    service: 'deliverer',
    queues: config.actionKeys.map(deliveryQueue),
    prefetch: config.prefetch,
    slots: config.slots,
    parse: readDelivery,
    handle: deliver({ findTarget, callEndpoint, schedule: config.schedule, maxAgeMs: config.maxAgeMs, now }),
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
