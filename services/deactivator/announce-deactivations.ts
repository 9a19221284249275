import { Counter } from 'prom-client';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import type { Deactivation } from './settle-deliveries.ts';

/** Subscribers are not told that they were switched off (carrier-webhooks, States), so operators must be able to see it. */
export function announceDeactivations({ log, metrics }: { log: Log; metrics: Metrics }): (off: Deactivation) => void {
  const deactivations = countDeactivations(metrics);
  return ({ subscription_guid: subscription, interface: interfaceName, action, rule }) => {
    deactivations.inc({ interface: interfaceName, rule });
    log.info({ subscription, interface: interfaceName, action, rule }, 'subscription.deactivated');
  };
}

export function countDeactivations(metrics: Metrics): Counter<'interface' | 'rule'> {
  return new Counter({
    name: 'waybell_deactivations_total',
    help: 'Subscriptions switched off, by the rule that did it',
    labelNames: ['interface', 'rule'],
    registers: [metrics],
  });
}
