import { Counter } from 'prom-client';
import type { Deactivated, DeactivationRule } from '@waybell/line/outcomes';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';

const RULES = ['exhausted', 'window'] as const satisfies DeactivationRule[];

/** Logs and counts deactivations for operators: subscribers are not notified (carrier-webhooks, States). */
export function announceDeactivations({ log, metrics }: { log: Log; metrics: Metrics }): (off: Deactivated) => void {
  const deactivations = countDeactivations(metrics);
  // Prometheus misses the first increase of a counter that did not exist before.
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
    help: 'Subscriptions switched off, by rule',
    labelNames: ['interface', 'rule'],
    registers: [metrics],
  });
}
