import type { Tracer } from '@opentelemetry/api';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** How spans are made and where they go: settings of `tracing-settings.ts`. */
export type TracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_EXPORTER_OTLP_HEADERS: string;
  OTEL_TRACES_SAMPLER: Sampling;
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_SERVICE_NAME: string;
  OTEL_RESOURCE_ATTRIBUTES: string;
};

export type Sampling =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/** Closing it sends what is left, for a bounded time. */
export type Tracing = AsyncDisposable & { tracer: Tracer };

export type TracingOptions = { service: string; settings: TracingSettings; log: Log; metrics: Metrics };

/** Undefined where no endpoint is set: then nothing of OpenTelemetry's SDK is loaded, and no span is made. */
export async function startTracing(options: TracingOptions): Promise<Tracing | undefined> {
  if (options.settings.OTEL_EXPORTER_OTLP_ENDPOINT === '') return undefined;
  const { exportSpans } = await import('./export-spans.ts');
  return exportSpans(options);
}
