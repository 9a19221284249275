import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { SpanResult } from './span-metrics.ts';

export type SpanQueueOptions = {
  exporter: SpanExporter;
  /** Limit of sending one batch. */
  limitMs: number;
  count: (result: SpanResult, number: number) => void;
  /** Called each time that spans could not be sent. */
  onTrouble: (error: unknown) => void;
};

/** Limit of ended spans that wait to be sent. */
const MOST_WAITING = 4_096;
const BATCH = 512;
const GATHER_MS = 1_000;
/** `ExportResultCode.SUCCESS`, from a package that nothing else here needs. */
const SUCCESS = 0;

/** Queues spans and sends them in batches. Drops ended spans while the queue is full. */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    const { exporter, limitMs } = options;
    this.#batches = new BatchSpanProcessor({
      exporter: { export: (spans, done) => this.#send(spans, done), shutdown: () => exporter.shutdown() },
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: GATHER_MS,
      exportTimeoutMillis: 2 * limitMs,
    });
  }

  onStart(): void {
    // Only ended spans matter.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= MOST_WAITING) {
      this.#options.count('dropped', 1);
      return this.#options.onTrouble(new Error('too many spans wait for the collector'));
    }
    this.#waiting += 1;
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
      this.#waiting -= spans.length;
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
      // Spans that it cannot serialise must not count as waiting for ever.
      end(false, error);
      throw error;
    }
  };
}
