import { Counter } from 'prom-client';
import type { Outcome } from '@waybell/line/outcomes';
import type { Metrics } from '@waybell/runtime/metrics';

type RecordKind = Outcome['kind'] | 'outdated';

const ZERO: Record<RecordKind, 0> = {
  routed: 0,
  delivered: 0,
  failed: 0,
  exhausted: 0,
  dropped: 0,
  rejected: 0,
  deactivated: 0,
  outdated: 0,
};

/** Counts records that were written. */
export class LogMetrics {
  readonly #records: Counter<'kind'>;

  constructor(metrics: Metrics) {
    this.#records = new Counter({
      name: 'waybell_log_records_total',
      help: 'Records written; outdated: too old, not written',
      labelNames: ['kind'],
      registers: [metrics],
    });
    // Prometheus misses the first increase of a counter that did not exist before, and alerts compare the sums of kinds.
    for (const [kind, none] of Object.entries(ZERO)) this.#records.inc({ kind }, none);
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
