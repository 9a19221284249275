import { collectDefaultMetrics, Registry } from 'prom-client';

export type Metrics = Registry;

/** The process' own registry, with Node's default figures. Names begin with `waybell_`, by Prometheus' rules. */
export function createMetrics(service: string): Metrics {
  const metrics = new Registry();
  metrics.setDefaultLabels({ service });
  collectDefaultMetrics({ register: metrics });
  return metrics;
}
