import { Counter } from 'prom-client';
import type { Outcome } from '@waybell/line/outcomes';
import type { Metrics } from '@waybell/runtime/metrics';

/** What the log has written down. */
export class LogMetrics {
  readonly #records: Counter<'kind'>;

  constructor(metrics: Metrics) {
    this.#records = new Counter({
      name: 'waybell_log_records_total',
      help: 'Records of outcomes that the delivery log took, by kind; outdated: older than its retention, and so not written',
      labelNames: ['kind'],
      registers: [metrics],
    });
  }

  written(outcomes: readonly Outcome[]): void {
    const counts = new Map<string, number>();
    for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [kind, count] of counts) this.#records.inc({ kind }, count);
  }

  outdated(count: number): void {
    if (count > 0) this.#records.inc({ kind: 'outdated' }, count);
  }
}
