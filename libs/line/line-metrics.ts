import { Counter, Histogram } from 'prom-client';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Outcome } from './outcomes.ts';

/** How a message left its step: the closed list of the label `result`. */
export type StepResult = 'handled' | 'repeated' | 'rejected' | 'suspected' | 'given_back';

/** The line's figures of one process, whatever the number of its steps. */
export class LineMetrics {
  readonly #messages: Counter<'step' | 'result'>;
  readonly #seconds: Histogram<'step'>;
  readonly #held = new Map<string, () => number>();
  readonly #routed: Counter<'interface'>;
  readonly #ends: Counter<'interface' | 'end' | 'reason' | 'by_hand'>;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.#messages = new Counter({
      name: 'waybell_messages_total',
      help: 'Messages that a step took from a queue, by how they left it',
      labelNames: ['step', 'result'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'waybell_message_duration_seconds',
      help: 'Time from the start of the handler to the acknowledgement, by step; outages that were waited out included',
      labelNames: ['step'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    });
    gaugeOnDemand(
      metrics,
      {
        name: 'waybell_messages_held',
        help: 'Messages taken from a queue and neither acknowledged nor given back, at this moment',
        labelNames: ['step'],
      },
      () => [...this.#held].map(([step, held]) => ({ labels: { step }, value: held() })),
    );
    this.#routed = new Counter({
      name: 'waybell_deliveries_routed_total',
      help: 'Deliveries the router made of events: each ends as delivered, exhausted or dropped; those sent by hand are not among them',
      labelNames: ['interface'],
      registers,
    });
    this.#ends = new Counter({
      name: 'waybell_outcomes_total',
      help: 'What became of attempts and of events: attempts delivered, failed and exhausted; deliveries dropped; events suppressed; each with its reason; by_hand is empty but for what somebody sent again (resend) or tried out (test)',
      labelNames: ['interface', 'end', 'reason', 'by_hand'],
      registers,
    });
  }

  watchHeld(step: string, held: () => number): void {
    this.#held.set(step, held);
  }

  left(step: string, result: StepResult, durationMs?: number): void {
    this.#messages.inc({ step, result });
    if (durationMs !== undefined) this.#seconds.observe({ step }, durationMs / 1_000);
  }

  ended(outcome: Outcome): void {
    const count = (end: string, reason = '', byHand = '') =>
      this.#ends.inc({ interface: outcome.interface, end, reason, by_hand: byHand });
    switch (outcome.kind) {
      case 'routed':
        this.#routed.inc({ interface: outcome.interface }, outcome.deliveries.length);
        for (const { reason } of outcome.suppressed) count('suppressed', reason);
        break;
      case 'dropped':
        count('dropped', outcome.reason, outcome.byHand);
        break;
      case 'delivered':
      case 'failed':
      case 'exhausted':
        count(outcome.kind, outcome.answer.reason, outcome.byHand);
        break;
      case 'rejected':
        // Counted as messages: not each of them is an event.
        break;
    }
  }
}

const byRegistry = new WeakMap<Metrics, LineMetrics>();

export function lineMetrics(metrics: Metrics): LineMetrics {
  const known = byRegistry.get(metrics) ?? new LineMetrics(metrics);
  byRegistry.set(metrics, known);
  return known;
}
