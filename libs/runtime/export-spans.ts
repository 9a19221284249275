import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { Tracer } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TracerProvider,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { randomUUID } from 'node:crypto';
import { systemClock } from './clock.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { throttledWarning } from './throttled-warning.ts';
import manifest from './package.json' with { type: 'json' };
import { countSpans } from './span-metrics.ts';
import { SpanQueue } from './span-queue.ts';
import type { TracingPlan } from './read-tracing.ts';
import { withTimeout } from './with-timeout.ts';

/** Limit of sending a batch, including retries. */
const SEND_LIMIT_MS = 10_000;
/** Limit of sending the rest at the end of the process. */
const CLOSE_LIMIT_MS = 2_000;

/** Disposal sends the rest, for a limited time. */
export type Tracing = AsyncDisposable & { tracer: Tracer };

export type ExportOptions = { service: string; plan: TracingPlan; log: Log; metrics: Metrics };

/** Sends spans to a collector in batches. Nothing waits for it: it drops and counts what the collector does not take in time. */
export function exportSpans({ service, plan, log, metrics }: ExportOptions): Tracing {
  const queue = new SpanQueue({
    exporter: new OTLPTraceExporter({
      url: plan.url,
      headers: plan.headers,
      timeoutMillis: SEND_LIMIT_MS,
    }),
    limitMs: SEND_LIMIT_MS,
    count: countSpans(metrics),
    onTrouble: throttledWarning(log, 'spans.not-sent'),
  });
  const provider = new TracerProvider({
    sampler: samplerOf(plan),
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': `waybell-${service}`,
        'service.version': manifest.version,
        'service.instance.id': randomUUID(),
        ...plan.attributes,
      }),
    ),
    spanProcessors: [queue],
  });
  return {
    tracer: provider.getTracer('waybell', manifest.version),
    [Symbol.asyncDispose]: () => withTimeout({ clock: systemClock, limitMs: CLOSE_LIMIT_MS }, provider.shutdown()),
  };
}

function samplerOf({ sampler, part }: TracingPlan): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(part);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(part) });
  }
}
