import { Registry, type OpenMetricsContentType } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Figures as a scraper gets them. */
export type Shown = { text: string; contentType: string };

/** The same figures in OpenMetrics' format, which alone has exemplars. `labels`: those that each of the figures has. */
export async function openMetrics(metrics: Metrics, labels: Record<string, string>): Promise<Shown> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  registry.setDefaultLabels(labels);
  for (const { name } of metrics.getMetricsAsArray()) {
    // Not itself: prom-client renames the counters that it shows so, for good.
    registry.registerMetric(Object.create(metrics.getSingleMetric(name) ?? null));
  }
  return { text: await registry.metrics(), contentType: registry.contentType };
}
