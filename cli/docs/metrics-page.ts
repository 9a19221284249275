import { countDeactivations } from '@waybell/deactivator/deactivations';
import { gaugeCertificates } from '@waybell/deactivator/notices';
import { gaugeHeld } from '@waybell/deactivator/switch-off';
import { countFetches } from '@waybell/deliverer/credentials/access-tokens';
import { DeliveryMetrics, countCallbacks } from '@waybell/deliverer/delivery-metrics';
import { watchEgress } from '@waybell/deliverer/egress/egress';
import { watchEndpoints } from '@waybell/deliverer/flow/endpoints';
import { watchDeliverers } from '@waybell/deliverer/flow/flow';
import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { countPaused } from '@waybell/event-router/pause-when-deep';
import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import { lineMetrics, watchPublishing } from '@waybell/line/line-metrics';
import { countOnceFailures } from '@waybell/line/once';
import { WaitingMetrics } from '@waybell/line/waiting-room/waiting-metrics';
import { TrackerMetrics } from '@waybell/location-tracker/tracker-metrics';
import { createMetrics, countSpans, type Metrics } from '@waybell/runtime/metrics';
import { watchReadiness } from '@waybell/runtime/readiness';
import { httpMetrics } from '@waybell/subscription-api/rest/http/http-metrics';

export type DescribedMetric = { name: string; type: string; labels: string[]; help: string; by: string };

/** docs/operating/metrics.md: every figure once, with its labels, by the services that show it. */
export function metricsPage(): string {
  const services = [...Map.groupBy(describeMetrics(), ({ by }) => by)].flatMap(([by, metrics]) => [
    `## ${by}`,
    '',
    ...metrics.map(({ name, labels, help }) => `- \`${name}${labelled(labels)}\`: ${help}`),
    '',
  ]);
  return [...ABOVE, ...services, ...BELOW].join('\n');
}

const labelled = (labels: readonly string[]): string => (labels.length === 0 ? '' : `{${labels.join(',')}}`);

const ABOVE = [
  '# Metrics',
  '',
  'What each process shows at `/metrics`, beside the runtime (`nodejs_*`, `process_*`), each with the label `service`. No label is an account, a',
  'subscription, a receiver or an action. `_total` is a counter, `_duration_seconds` and `_lateness_seconds` are histograms, all else gauges.',
  'Alerts and the dashboard: [README.md](README.md#what-to-watch). `./waybell docs` makes this page from the code.',
  '',
];

/** Metrics of RabbitMQ that the alerts and the dashboard read. */
const BELOW = [
  '## RabbitMQ',
  '',
  '- `rabbitmq_detailed_queue_messages_ready`, `rabbitmq_detailed_queue_messages`, `rabbitmq_detailed_queue_messages_bytes`: depth, size',
  '- `rabbitmq_detailed_queue_consumers`: consumers',
  '- `rabbitmq_detailed_raft_term_total`: one for each member of a queue that runs',
  '- `rabbitmq_identity_info`: one for each node that answers',
  '- `rabbitmq_alarms_memory_used_watermark`, `rabbitmq_alarms_free_disk_space_watermark`: 1 while publishers are blocked',
  '- `rabbitmq_disk_space_available_bytes`, `rabbitmq_disk_space_available_limit_bytes`: free disk, and where publishers are blocked',
  '- `rabbitmq_process_resident_memory_bytes`: memory in use',
  '- `node_filesystem_avail_bytes`, `kubelet_volume_stats_available_bytes`: free disk of Postgres, of node_exporter or the kubelet',
  '',
  'Of what waits, take the highest figure of a service, not the sum; add up rooms. Counters of messages count handling: one handled again counts twice.',
  '',
];

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

/** Functions that register the metrics, and of which processes. */
const REGISTERED: { by: string; register: (metrics: Metrics) => unknown }[] = [
  { by: 'every service', register: (metrics) => watchReadiness(noProcess, metrics) },
  {
    by: 'event-router, location-tracker, deliverer, deactivator, delivery-log',
    register: (metrics) => watchPublishing(noProcess, metrics),
  },
  { by: 'event-router, location-tracker, deliverer, deactivator, delivery-log', register: lineMetrics },
  { by: 'event-router', register: (metrics) => countPaused(noProcess, metrics) },
  { by: 'event-router, deliverer', register: countOnceFailures },
  { by: 'event-router, location-tracker', register: unknownMembersMetric },
  { by: 'deliverer', register: (metrics) => new DeliveryMetrics(metrics, { now: noProcess }) },
  { by: 'event-router, deliverer', register: (metrics) => new WaitingMetrics(metrics) },
  { by: 'deliverer', register: countCallbacks },
  { by: 'deliverer', register: countFetches },
  { by: 'deliverer', register: (metrics) => watchEndpoints({ figures: noProcess }, metrics) },
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

/** A page says what there is: no process is there to read figures of. */
const noProcess = (): never => {
  throw new Error('there is no process to ask');
};
