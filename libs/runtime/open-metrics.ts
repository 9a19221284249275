import { Registry, type OpenMetricsContentType } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Metrics as a scraper gets them. */
export type Shown = { text: string; contentType: string };

/** Returns the metrics in OpenMetrics' format, the only one with exemplars. `labels` are added to each. */
export async function openMetrics(metrics: Metrics, labels: Record<string, string>): Promise<Shown> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  registry.setDefaultLabels(labels);
  for (const { name } of metrics.getMetricsAsArray()) {
    // A copy: prom-client renames the counters that it shows in this format, for good.
    registry.registerMetric(Object.create(metrics.getSingleMetric(name) ?? null));
  }
  return { text: await registry.metrics(), contentType: registry.contentType };
}
