import { readEnvironment } from '../environment.ts';
import { createMetrics } from '../metrics.ts';
import type { Tracing } from '../export-spans.ts';
import { startTracing } from '../process-parts.ts';
import { tracingSettings } from '../settings.ts';
import type { SpanCollector } from './span-collector.ts';
import { silentLog } from './patience.ts';

/** Makes traces as a process with these settings does; after its disposal the collector has all spans. */
export async function traceTo({ url }: SpanCollector, env: Record<string, string> = {}): Promise<Tracing> {
  const tracing = await startTracing({
    service: 'test',
    settings: readEnvironment(tracingSettings, { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env }),
    log: silentLog,
    metrics: createMetrics('test'),
  });
  if (tracing === undefined) throw new Error('there are no traces');
  return tracing;
}
