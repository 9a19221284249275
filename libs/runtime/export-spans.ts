import { randomUUID } from 'node:crypto';
import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { systemClock, withTimeout } from './clock.ts';
import { throttledWarning, type Log } from './log.ts';
import { countSpans, type Metrics, type SpanResult } from './metrics.ts';
import manifest from './package.json' with { type: 'json' };
import type { TracingPlan } from './read-tracing.ts';

/** Limit of sending a batch, including retries. */
const SEND_LIMIT_MS = 10_000;
/** Limit of sending the rest at the end of the process. */
const CLOSE_LIMIT_MS = 2_000;

/** Disposal sends the rest, for a limited time. */
export type Tracing = AsyncDisposable & { tracer: Tracer };

export type ExportOptions = { service: string; plan: TracingPlan; log: Log; metrics: Metrics };

/** Sends spans to a collector in batches, and delays nothing: it drops and counts spans that the collector does not accept in time. */
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

function samplerOf({ sampler, ratio }: TracingPlan): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

type SpanQueueOptions = {
  exporter: SpanExporter;
  /** Limit of sending one batch. */
  limitMs: number;
  count: (result: SpanResult, number: number) => void;
  /** Called each time that spans could not be sent. */
  onTrouble: (error: unknown) => void;
};

/** Limit of ended spans that are not sent yet. */
const MOST_UNSENT = 4_096;
const BATCH = 512;
const GATHER_MS = 1_000;
/** `ExportResultCode.SUCCESS`, from a package that nothing else here needs. */
const SUCCESS = 0;

/** Queues spans and sends them in batches. Drops ended spans while the queue is full. */
class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  readonly #batches: BatchSpanProcessor;
  #unsent = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    const { exporter, limitMs } = options;
    this.#batches = new BatchSpanProcessor({
      exporter: { export: (spans, done) => this.#send(spans, done), shutdown: () => exporter.shutdown() },
      maxQueueSize: MOST_UNSENT,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: GATHER_MS,
      exportTimeoutMillis: 2 * limitMs,
    });
  }

  onStart(): void {
    // Only ended spans matter.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#unsent >= MOST_UNSENT) {
      this.#options.count('dropped', 1);
      return this.#options.onTrouble(new Error('too many spans wait for the collector'));
    }
    this.#unsent += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  readonly #send: SpanExporter['export'] = (spans, done) => {
    const { exporter, count, onTrouble } = this.#options;
    const end = (isSent: boolean, error?: unknown): void => {
      this.#unsent -= spans.length;
      count(isSent ? 'sent' : 'failed', spans.length);
      if (!isSent) onTrouble(error instanceof Error ? error : new Error('the collector did not take spans'));
    };
    try {
      exporter.export(spans, (result) => {
        const code: number = result.code;
        end(code === SUCCESS, result.error);
        done(result);
      });
    } catch (error) {
      // Spans that it cannot serialise must not count as unsent for ever.
      end(false, error);
      throw error;
    }
  };
}
