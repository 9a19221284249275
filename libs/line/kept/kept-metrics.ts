import { Counter } from 'prom-client';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { KeptPublications } from './kept-publications.ts';

/** Registers metrics of kept publications, as this process last counted them. No label for destinations: their number has no bound. */
export function watchKept(kept: Pick<KeptPublications, 'figures'>, metrics: Metrics): void {
  const gauge = (name: string, help: string, value: () => number) =>
    gaugeOnDemand(metrics, { name, help }, () => [{ value: value() }]);
  gauge(
    'waybell_kept_publications',
    'Publications that Postgres keeps because RabbitMQ does not take them, of all processes of the service',
    () => kept.figures().publications,
  );
  gauge('waybell_kept_bytes', 'Total size of the kept publications of the service', () => kept.figures().bytes);
  gauge(
    'waybell_kept_oldest_seconds',
    'For how long the first of the kept publications has been kept',
    () => kept.figures().oldestMs / 1_000,
  );
  const counter = (name: string, help: string, read: () => number) =>
    metrics.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
    );
  counter('waybell_kept_total', 'Publications that this process kept', () => kept.figures().keptTotal);
  counter('waybell_sent_on_total', 'Kept publications that this process sent on', () => kept.figures().sentOnTotal);
}
