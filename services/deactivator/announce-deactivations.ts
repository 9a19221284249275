import { Counter } from 'prom-client';
import type { Deactivated, DeactivationRule } from '@waybell/line/outcomes';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';

const RULES = ['exhausted', 'window'] as const satisfies DeactivationRule[];

/** Subscribers are not told that they were switched off (carrier-webhooks, States), so operators must be able to see it. */
export function announceDeactivations({ log, metrics }: { log: Log; metrics: Metrics }): (off: Deactivated) => void {
  const deactivations = countDeactivations(metrics);
  // Prometheus sees no increase in what begins with its first.
  for (const name of ['shipper', 'carrier'] as const)
    for (const rule of RULES) deactivations.inc({ interface: name, rule }, 0);
  return ({ subscription, interface: interfaceName, action, rule, delivery }) => {
    deactivations.inc({ interface: interfaceName, rule });
    log.info({ subscription, interface: interfaceName, action, rule, delivery }, 'subscription.deactivated');
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
