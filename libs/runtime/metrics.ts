import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type Metrics = Registry;

/** How often the event loop's delay is looked at. The default, 10 ms, is a hundred wake-ups a second with nothing to do. */
const EVENT_LOOP_LOOK_MS = 100;

/** The process' own registry, with Node's default figures. Names begin with `waybell_`, by Prometheus' rules. */
export function createMetrics(service: string): Metrics {
  const metrics = new Registry();
  metrics.setDefaultLabels({ service });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });
  return metrics;
}

export type GaugeSpec<Label extends string> = { name: string; help: string; labelNames?: Label[] };
export type MetricReading<Label extends string> = { labels?: Record<Label, string>; value: number };

/** A figure that costs nothing until it is asked for: only then `read` is asked, and only what it names is shown. */
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
