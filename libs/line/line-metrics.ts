import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { CounterOnDemand, HistogramOnDemand } from '@waybell/runtime/metrics-on-demand';
import type { Destination } from './publish-errors.ts';
import { whyOf, type Outcome } from './outcomes.ts';

const STEP_RESULTS = ['handled', 'repeated', 'rejected', 'suspected', 'given_back'] as const;

/** How a message left its step: the values of the label `result`. */
export type StepResult = (typeof STEP_RESULTS)[number];

/** Metrics of all steps of a process. */
export class LineMetrics {
  readonly #messages: CounterOnDemand<'step' | 'result'>;
  readonly #seconds: HistogramOnDemand<'step'>;
  readonly #held = new Map<string, () => number>();
  readonly #routed: CounterOnDemand<'interface'>;
  readonly #deliveryBatches: CounterOnDemand<'step'>;
  readonly #batchMembers: CounterOnDemand<'step'>;
  readonly #ends: CounterOnDemand<'interface' | 'end' | 'reason' | 'by_hand'>;

  constructor(metrics: Metrics) {
    this.#messages = new CounterOnDemand(metrics, {
      name: 'waybell_messages_total',
      help: 'Messages that a step took from a queue, by how they left it',
      labelNames: ['step', 'result'],
    });
    this.#seconds = new HistogramOnDemand(metrics, {
      name: 'waybell_message_duration_seconds',
      help: 'Time from taking a message to its acknowledgement, by step; outages that were waited out included',
      labelNames: ['step'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
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
    this.#routed = new CounterOnDemand(metrics, {
      name: 'waybell_deliveries_routed_total',
      help: 'Deliveries the router made of events: each ends as delivered, given up (exhausted) or dropped; those sent by hand are not among them',
      labelNames: ['interface'],
    });
    this.#deliveryBatches = new CounterOnDemand(metrics, {
      name: 'waybell_delivery_batches_total',
      help: 'Messages in which deliveries left: one for several to the same queue, where they come together',
      labelNames: ['step'],
    });
    this.#batchMembers = new CounterOnDemand(metrics, {
      name: 'waybell_delivery_batch_members_total',
      help: 'Deliveries that left in batches; divided by waybell_delivery_batches_total: what one message of a delivery queue stands for',
      labelNames: ['step'],
    });
    this.#ends = new CounterOnDemand(metrics, {
      name: 'waybell_outcomes_total',
      help: 'What became of attempts and of events: attempts delivered, failed and given up (exhausted); deliveries dropped; events not sent (suppressed); each with its reason; by_hand is empty except for what was sent again (resend) or as a test (test)',
      labelNames: ['interface', 'end', 'reason', 'by_hand'],
    });
  }

  watchHeld(step: string, held: () => number): void {
    this.#held.set(step, held);
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
    { name: 'waybell_unconfirmed_messages', help: 'Messages published and not yet confirmed by the broker' },
    () => [{ value: figures().unconfirmed }],
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_publishing_blocked',
      help: '1 while the broker takes no publishes from this process: its memory or its disk is short',
    },
    () => [{ value: figures().isBlocked ? 1 : 0 }],
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_destination_stalled',
      help: '1 for each exchange and routing key that confirms nothing while others do: what is to go there waits elsewhere',
      labelNames: ['exchange', 'routing_key'],
    },
    () =>
      figures().stalled.map(({ exchange, routingKey }) => ({
        labels: { exchange, routing_key: routingKey },
        value: 1,
      })),
  );
}
