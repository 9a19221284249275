import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '@waybell/runtime/metrics';
import type { Outcome } from './outcomes.ts';

/** How a message left its step: the closed list of the label `result`. */
export type StepResult = 'handled' | 'repeated' | 'rejected' | 'suspected' | 'given_back';

/** The line's figures of one process, whatever the number of its steps. */
export class LineMetrics {
  readonly #messages: Counter<'step' | 'result'>;
  readonly #seconds: Histogram<'step'>;
  readonly #slotsUsed = new Map<string, () => number>();
  readonly #ends: Counter<'interface' | 'end' | 'reason'>;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.#messages = new Counter({
      name: 'waybell_messages_total',
      help: 'Messages taken from a queue, by how they left the step',
      labelNames: ['step', 'result'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'waybell_message_duration_seconds',
      help: 'From the start of the handler to the acknowledgement',
      labelNames: ['step'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    });
    metrics.registerMetric(slotsGauge(this.#slotsUsed));
    this.#ends = new Counter({
      name: 'waybell_outcomes_total',
      help: 'What became of attempts and of events, by end and reason',
      labelNames: ['interface', 'end', 'reason'],
      registers,
    });
  }

  watchSlots(step: string, used: () => number): void {
    this.#slotsUsed.set(step, used);
  }

  left(step: string, result: StepResult, durationMs?: number): void {
    this.#messages.inc({ step, result });
    if (durationMs !== undefined) this.#seconds.observe({ step }, durationMs / 1_000);
  }

  ended(outcome: Outcome): void {
    const count = (end: string, reason = '') => this.#ends.inc({ interface: outcome.interface, end, reason });
    switch (outcome.kind) {
      case 'routed':
        for (const { reason } of outcome.suppressed) count('suppressed', reason);
        break;
      case 'dropped':
        count('dropped', outcome.reason);
        break;
      case 'delivered':
      case 'failed':
      case 'exhausted':
        count(outcome.kind, outcome.answer.reason);
        break;
    }
  }
}

/** Asked when somebody looks. */
function slotsGauge(slotsUsed: ReadonlyMap<string, () => number>): Gauge<'step'> {
  return new Gauge({
    name: 'waybell_slots_used',
    help: 'Messages being handled at this moment',
    labelNames: ['step'],
    registers: [],
    collect() {
      for (const [step, used] of slotsUsed) this.set({ step }, used());
    },
  });
}

const byRegistry = new WeakMap<Metrics, LineMetrics>();

export function lineMetrics(metrics: Metrics): LineMetrics {
  const known = byRegistry.get(metrics) ?? new LineMetrics(metrics);
  byRegistry.set(metrics, known);
  return known;
}
