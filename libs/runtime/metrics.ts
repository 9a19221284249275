import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type Metrics = Registry;

/** How often the event loop's delay is measured: each time wakes an idle process, by default a hundred times a second. */
const EVENT_LOOP_LOOK_MS = 1_000;

/** Makes the process's registry, with Node's default metrics. Names begin with `waybell_` and follow Prometheus' rules. */
export function createMetrics(service: string): Metrics {
  const metrics = new Registry();
  metrics.setDefaultLabels({ service });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });
  return metrics;
}

export type GaugeSpec<Label extends string> = { name: string; help: string; labelNames?: Label[] };
export type MetricReading<Label extends string> = { labels?: Record<Label, string>; value: number };

/** A gauge that costs nothing between scrapes: each scrape calls `read`, and shows only what that returns. */
export function gaugeOnDemand<Label extends string>(
  metrics: Metrics,
  spec: GaugeSpec<Label>,
  read: () => MetricReading<Label>[],
): void {
  const gauge = new Gauge<Label>({
    ...spec,
    registers: [],
    collect() {
      this.reset();
      for (const { labels, value } of read()) {
        if (labels === undefined) this.set(value);
        else this.set(labels, value);
      }
    },
  });
  metrics.registerMetric(gauge);
}
