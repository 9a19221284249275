/** Metrics of the line: what came of each message, what is in hand, and what is unconfirmed. */
import { CounterOnDemand, gaugeOnDemand, HistogramOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Destination } from './messages.ts';
import { type Outcome, whyOf } from './outcomes.ts';

const STEP_RESULTS = ['handled', 'repeated', 'rejected', 'suspected', 'given_back'] as const;

/** How a message left its step: the values of the label `result`. */
export type StepResult = (typeof STEP_RESULTS)[number];

/** Metrics of all steps of a process. */
export class LineMetrics {
  readonly #messages: CounterOnDemand<'step' | 'result'>;
  readonly #seconds: HistogramOnDemand<'step'>;
  readonly #inHand = new Map<string, () => number>();
  readonly #routed: CounterOnDemand<'interface'>;
  readonly #deliveryBatches: CounterOnDemand<'step'>;
  readonly #batchMembers: CounterOnDemand<'step'>;
  readonly #ends: CounterOnDemand<'interface' | 'end' | 'reason' | 'by_hand'>;

  constructor(metrics: Metrics) {
    this.#messages = new CounterOnDemand(metrics, {
      name: 'waybell_messages_total',
      help: 'Messages taken, by how they left the step',
      labelNames: ['step', 'result'],
    });
    this.#seconds = new HistogramOnDemand(metrics, {
      name: 'waybell_message_duration_seconds',
      help: 'From taking a message to its acknowledgement, outages included',
      labelNames: ['step'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    });
    gaugeOnDemand(
      metrics,
      {
        name: 'waybell_messages_held',
        help: 'Messages taken and not yet acknowledged',
        labelNames: ['step'],
      },
      () => [...this.#inHand].map(([step, count]) => ({ labels: { step }, value: count() })),
    );
    this.#routed = new CounterOnDemand(metrics, {
      name: 'waybell_deliveries_routed_total',
      help: 'Deliveries made of events, without those sent by hand',
      labelNames: ['interface'],
    });
    this.#deliveryBatches = new CounterOnDemand(metrics, {
      name: 'waybell_delivery_batches_total',
      help: 'Messages in which deliveries left',
      labelNames: ['step'],
    });
    this.#batchMembers = new CounterOnDemand(metrics, {
      name: 'waybell_delivery_batch_members_total',
      help: 'Deliveries in batches; divided by the batches: deliveries per message',
      labelNames: ['step'],
    });
    this.#ends = new CounterOnDemand(metrics, {
      name: 'waybell_outcomes_total',
      help: 'Ends: delivered, failed, exhausted, dropped, suppressed (events); by_hand: resend, test or empty',
      labelNames: ['interface', 'end', 'reason', 'by_hand'],
    });
  }

  watchInHand(step: string, count: () => number): void {
    this.#inHand.set(step, count);
    // Prometheus misses the first increase of a counter that did not exist before; an alert would miss a single outage.
    for (const result of STEP_RESULTS) this.#messages.inc({ step, result }, 0);
  }

  sentBatch(step: string, members: number): void {
    this.#deliveryBatches.inc({ step });
    this.#batchMembers.inc({ step }, members);
  }

  left(step: string, result: StepResult, messages = 1): void {
    this.#messages.inc({ step, result }, messages);
  }

  took(step: string, durationMs: number, traceId?: string): void {
    this.#seconds.observe({ step }, durationMs / 1_000, traceId);
  }

  ended(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'routed':
        this.#routed.inc({ interface: outcome.interface }, outcome.deliveries.length);
        for (const { reason } of outcome.suppressed) this.#count(outcome, 'suppressed', reason);
        break;
      case 'dropped':
        this.#count(outcome, 'dropped', outcome.reason, outcome.byHand);
        break;
      case 'delivered':
      case 'failed':
      case 'exhausted':
        this.#count(outcome, outcome.kind, whyOf(outcome), outcome.byHand);
        break;
      case 'rejected':
        // Counted by `left`: not every rejected message is an event.
        break;
      case 'deactivated':
        // Counted by the deactivator.
        break;
    }
  }

  #count(outcome: { interface: string }, end: string, reason = '', byHand = ''): void {
    this.#ends.inc({ interface: outcome.interface, end, reason, by_hand: byHand });
  }
}

const byRegistry = new WeakMap<Metrics, LineMetrics>();

export function lineMetrics(metrics: Metrics): LineMetrics {
  const known = byRegistry.get(metrics) ?? new LineMetrics(metrics);
  byRegistry.set(metrics, known);
  return known;
}

export type PublishingFigures = { unconfirmed: number; isBlocked: boolean; stalled: readonly Destination[] };

/** Registers metrics of the publisher. */
export function watchPublishing(figures: () => PublishingFigures, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    { name: 'waybell_unconfirmed_messages', help: 'Messages published and not yet confirmed' },
    () => [{ value: figures().unconfirmed }],
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_publishing_blocked',
      help: '1 while the broker takes nothing from this process',
    },
    () => [{ value: figures().isBlocked ? 1 : 0 }],
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_destination_stalled',
      help: '1 where nothing is confirmed while other things are',
      labelNames: ['exchange', 'routing_key'],
    },
    () =>
      figures().stalled.map(({ exchange, routingKey }) => ({
        labels: { exchange, routing_key: routingKey },
        value: 1,
      })),
  );
}
