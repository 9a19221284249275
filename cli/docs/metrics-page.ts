import { countDeactivations } from '@waybell/deactivator/announce-deactivations';
import { gaugeHeld } from '@waybell/deactivator/sweep';
import { gaugeCertificates } from '@waybell/deactivator/tell-certificates';
import { countFetches } from '@waybell/deliverer/credentials/watch-fetches';
import { countCallbacks } from '@waybell/deliverer/request/callback-metrics';
import { DeliveryMetrics } from '@waybell/deliverer/delivery-metrics';
import { watchEgress } from '@waybell/deliverer/egress/egress-metrics';
import { watchEndpoints } from '@waybell/deliverer/endpoints/endpoint-metrics';
import { watchDeliverers } from '@waybell/deliverer/waiting/deliverers';
import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import { countPaused } from '@waybell/event-router/pause-when-deep';
import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { TrackerMetrics } from '@waybell/location-tracker/tracker-metrics';
import { lineMetrics, watchPublishing } from '@waybell/line/line-metrics';
import { countOnceFailures } from '@waybell/line/once';
import { WaitingMetrics } from '@waybell/line/waiting-room/waiting-metrics';
import { createMetrics, type Metrics } from '@waybell/runtime/metrics';
import { watchReadiness } from '@waybell/runtime/readiness-metrics';
import { countSpans } from '@waybell/runtime/span-metrics';
import { httpMetrics } from '@waybell/subscription-api/rest/http/http-metrics';

/** A page says what there is; no process is there to be asked for figures. */
const neverAsked = (): never => {
  throw new Error('there is no process to ask');
};

/** Functions that register the metrics, and of which processes. */
const REGISTERED: { by: string; register: (metrics: Metrics) => unknown }[] = [
  { by: 'every service', register: (metrics) => watchReadiness(neverAsked, metrics) },
  {
    by: 'event-router, location-tracker, deliverer, deactivator, delivery-log',
    register: (metrics) => watchPublishing(neverAsked, metrics),
  },
  { by: 'event-router, location-tracker, deliverer, deactivator, delivery-log', register: lineMetrics },
  { by: 'event-router', register: (metrics) => countPaused(neverAsked, metrics) },
  { by: 'event-router, deliverer', register: countOnceFailures },
  { by: 'event-router, location-tracker', register: unknownMembersMetric },
  { by: 'deliverer', register: (metrics) => new DeliveryMetrics(metrics, { now: neverAsked }) },
  { by: 'event-router, deliverer', register: (metrics) => new WaitingMetrics(metrics) },
  { by: 'deliverer', register: countCallbacks },
  { by: 'deliverer', register: countFetches },
  { by: 'deliverer', register: (metrics) => watchEndpoints({ figures: neverAsked }, metrics) },
  { by: 'deliverer', register: (metrics) => watchDeliverers({ deliverers: 1 }, metrics) },
  { by: 'deliverer', register: (metrics) => watchEgress({ isSuspected: false }, metrics) },
  { by: 'location-tracker', register: (metrics) => new TrackerMetrics(metrics) },
  { by: 'delivery-log', register: (metrics) => new LogMetrics(metrics) },
  { by: 'deactivator', register: countDeactivations },
  { by: 'deactivator', register: gaugeHeld },
  { by: 'deactivator', register: gaugeCertificates },
  { by: 'subscription-api', register: httpMetrics },
  { by: 'every service that sends traces', register: countSpans },
];

export type DescribedMetric = { name: string; type: string; labels: string[]; help: string; by: string };

/** Every figure of Waybell's own, by name. */
export function describeMetrics(): DescribedMetric[] {
  return REGISTERED.flatMap(({ by, register }) => {
    const metrics = createMetrics(by);
    register(metrics);
    return metrics
      .getMetricsAsArray()
      .filter(({ name }) => name.startsWith('waybell_'))
      .map((metric) => ({
        name: metric.name,
        type: String(metric.type),
        labels: labelsOf(metric),
        help: metric.help,
        by,
      }));
  }).toSorted((one, other) => one.name.localeCompare(other.name));
}

// The library's types leave them out.
function labelsOf(metric: object): string[] {
  return 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
}

/** docs/operating/metrics.md: every figure once, with its labels and the services that show it. */
export function metricsPage(): string {
  const rows = describeMetrics().map(({ name, type, labels, help, by }) => {
    const labelled = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labelled} | ${help} | ${by} |`;
  });
  return [
    '# Metrics',
    '',
    'What each process shows at `/metrics`, beside the figures of its runtime (`nodejs_*`, `process_*`). Every series has the label `service`;',
    'no label is an account, a subscription, a receiver or an action, so that their number is bounded. What to make of them:',
    '[what to watch](README.md#what-to-watch). This page is made from the code: `./waybell docs` writes it.',
    '',
    '| Metric | Type | Labels | What it is | Shown by |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
