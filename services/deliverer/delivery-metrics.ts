import { firstAttempt, type Delivery } from '@waybell/line/delivery';
import { type End, noResult } from '@waybell/line/messages';
import type { Answer, Outcome, InterfaceName } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { gaugeOnDemand, type Metrics, HistogramOnDemand, CounterOnDemand } from '@waybell/runtime/metrics';
import { sampledTraceId } from '@waybell/runtime/traceparent';
import { Counter } from 'prom-client';
import type { Handshake } from './request/connect.ts';

/** Measures how timely deliveries are, from a delivery and the record of its attempt. */
export class DeliveryMetrics {
  readonly #inHand = new Map<string, DeliveriesInHand>();
  readonly #endToEnd: HistogramOnDemand<'interface' | 'step' | 'attempt'>;
  readonly #lateness: HistogramOnDemand<'interface' | 'step' | 'attempt'>;
  readonly #attempts: HistogramOnDemand<'interface' | 'result'>;

  readonly #traceIdOf: (delivery: Delivery) => string | undefined;

  constructor(metrics: Metrics, { now, hasTraces = false }: { now: () => number; hasTraces?: boolean }) {
    this.#traceIdOf = hasTraces ? ({ traceparent }) => sampledTraceId(traceparent) : () => undefined;
    this.#endToEnd = new HistogramOnDemand(metrics, {
      name: 'waybell_delivery_duration_seconds',
      help: 'Time from routing, or from asking by hand, to the 2xx',
      labelNames: ['interface', 'step', 'attempt'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    });
    this.#lateness = new HistogramOnDemand(metrics, {
      name: 'waybell_attempt_lateness_seconds',
      help: 'From when an attempt was due to its start, without time in a room',
      labelNames: ['interface', 'step', 'attempt'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    });
    this.#attempts = new HistogramOnDemand(metrics, {
      name: 'waybell_attempt_duration_seconds',
      help: 'Time of a request, but for tests: delivered (2xx), refused, unanswered',
      labelNames: ['interface', 'result'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    });
    gaugeOnDemand(
      metrics,
      {
        name: 'waybell_oldest_delivery_age_seconds',
        help: 'Since the oldest attempt in hand was due, without time in a room',
        labelNames: ['step'],
      },
      () => [...this.#inHand].map(([step, inHand]) => ({ labels: { step }, value: longestDue(inHand, now()) })),
    );
  }

  /** Wraps a step to measure its deliveries. */
  watch<D extends Delivery>(step: Step<D>): Step<D> {
    const inHand: DeliveriesInHand = { asked: new Set(), begun: new Set() };
    this.#inHand.set(step.name, inHand);
    return {
      ...step,
      handle: async (batch, isInHand) => {
        inHand.asked.add(batch);
        try {
          const begin = await step.handle(batch, isInHand);
          return (place, end) => {
            const delivery = batch[place];
            const ended = delivery === undefined ? end : this.#begun(step.name, delivery, end);
            try {
              begin(place, ended);
            } catch (error) {
              ended(noResult(error));
            }
          };
        } finally {
          // Not all are begun: some were given back meanwhile.
          inHand.asked.delete(batch);
        }
      },
    };
  }

  #begun(step: string, delivery: Delivery, end: End): End {
    const begun = this.#inHand.get(step)?.begun.add(delivery);
    return (fate) => {
      begun?.delete(delivery);
      if (fate.kind === 'done' && !('next' in fate.caused)) {
        for (const each of fate.caused) if (each.kind === 'outcome') this.#ended(step, delivery, each.outcome);
      }
      end(fate);
    };
  }

  #ended(step: string, delivery: Delivery, outcome: Outcome): void {
    if (!('answer' in outcome)) return;
    const { createdAt, interface: interfaceName } = delivery;
    const { at, answer, kind } = outcome;
    const attempt = delivery.attempt === firstAttempt(delivery) ? 'first' : 'retry';
    const labels = { interface: interfaceName, step, attempt };
    const traceId = this.#traceIdOf(delivery);
    if (waitsForUs(delivery))
      this.#lateness.observe(labels, secondsBetween(dueAtOf(delivery), at - answer.durationMs), traceId);
    if (delivery.byHand?.why !== 'test') {
      const result = { interface: interfaceName, result: resultOf(answer) };
      this.#attempts.observe(result, answer.durationMs / 1_000, traceId);
    }
    if (kind === 'delivered') this.#endToEnd.observe(labels, secondsBetween(createdAt, at), traceId);
  }
}

function resultOf({ status, reason }: Answer): 'delivered' | 'refused' | 'unanswered' {
  if (status === undefined) return 'unanswered';
  return reason === undefined ? 'delivered' : 'refused';
}

/** Never negative: two machines' clocks may differ by some milliseconds. */
function secondsBetween(earlierMs: number, laterMs: number): number {
  return Math.max(0, laterMs - earlierMs) / 1_000;
}

/** False for a delivery that waited for its endpoint or a server: its lateness is not caused by deliverers. */
function waitsForUs({ waited, mayWait }: Delivery): boolean {
  return waited === undefined && mayWait !== true;
}

function dueAtOf({ createdAt, dueAt = createdAt }: Delivery): number {
  return dueAt;
}

/** Deliveries of a step: batches whose queries are under way, and deliveries of others that were begun. */
type DeliveriesInHand = { asked: Set<readonly Delivery[]>; begun: Set<Delivery> };

/** Age in seconds of the delivery that has been due longest. */
function longestDue({ asked, begun }: DeliveriesInHand, now: number): number {
  let oldestAt = now;
  for (const deliveries of [...asked, begun]) {
    for (const delivery of deliveries) if (waitsForUs(delivery)) oldestAt = Math.min(oldestAt, dueAtOf(delivery));
  }
  return secondsBetween(oldestAt, now);
}

/** Called for requests and connections as they are made. */
export type CallbackObserver = {
  requested: (interfaceName: InterfaceName) => void;
  connected: (handshake: Handshake) => void;
};

/** Counts requests, and connections by the kind of their TLS handshake. */
export function countCallbacks(metrics: Metrics): CallbackObserver {
  const requests = new CounterOnDemand(metrics, {
    name: 'waybell_callback_requests_total',
    help: 'Requests to receivers, begun',
    labelNames: ['interface'],
  });
  const connections = new Counter({
    name: 'waybell_callback_connections_total',
    help: 'Connections to receivers, by TLS handshake: none, full, resumed',
    labelNames: ['handshake'],
    registers: [metrics],
  });
  return {
    requested: (interfaceName) => requests.inc({ interface: interfaceName }),
    connected: (handshake) => connections.inc({ handshake }),
  };
}
