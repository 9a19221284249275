/**
 * The picture of the line on RabbitMQ: every exchange and queue, once, as data.
 *
 *   upstream ──▶ waybell.events ──▶ events.router ─▶ (event-router) ──▶ waybell.deliveries ──▶ deliveries.<action>
 *                      │                                                                          │    ▲
 *                      └─ unroutable ─▶ waybell.strays ─▶ strays ─▶ (event-router) ─▶ rejected    ▼    │
 *                                             ▲                                          (deliverer)   │
 *                                             │                                           │    │       │
 *                                             └────────────── waybell.returns ◀── expiry ─┼─ waybell.retry
 *                                                                    └────────────────────┼────────────┘
 *                    (deactivator) ◀── outcomes.deactivator ◀── waybell.outcomes ◀────────┘
 *
 * Why each argument is as it is: docs/decisions/0003-topology.md.
 */
import { formatDuration } from '@waybell/runtime/duration';

export const eventsExchange = 'waybell.events';
export const deliveriesExchange = 'waybell.deliveries';
export const retryExchange = 'waybell.retry';
export const returnsExchange = 'waybell.returns';
export const outcomesExchange = 'waybell.outcomes';
export const straysExchange = 'waybell.strays';
export const suspectsExchange = 'waybell.suspects';
export const rejectedExchange = 'waybell.rejected';

export const routerQueue = 'waybell.events.router';
export const deactivatorQueue = 'waybell.outcomes.deactivator';
export const straysQueue = 'waybell.strays';
export const rejectedQueue = 'waybell.rejected';

export const deliveryQueue = (actionKey: string): string => `waybell.deliveries.${actionKey}`;
export const suspectsQueue = (service: string): string => `waybell.suspects.${service}`;
export const retryKey = (actionKey: string, delayMs: number): string => `${actionKey}.${formatDuration(delayMs)}`;
export const retryQueue = (actionKey: string, delayMs: number): string =>
  `waybell.retry.${retryKey(actionKey, delayMs)}`;

/** Steps, each with a suspects lane of its own. */
const STEPS = ['event-router', 'strays', 'deliverer', 'deactivator'];

export type Exchange = { name: string; type: 'topic' | 'direct' | 'fanout'; alternate?: string };
export type Queue = { name: string; arguments: Record<string, string | number>; bindings: Binding[] };
export type Binding = { exchange: string; routingKey: string };
export type Topology = { exchanges: Exchange[]; queues: Queue[] };

export type TopologyOptions = {
  /** `<interface>.<action>` of every action, in the order of the catalog. */
  actionKeys: readonly string[];
  /** The distinct delays after which deliveries of an action are attempted again. */
  retryDelaysMs: (actionKey: string) => readonly number[];
  /** Beyond this the events queue refuses: upstream's confirm fails instead of the broker filling up. */
  eventsLimitBytes: number;
  /** Members of a quorum queue at declaration; the broker caps it at the size of the cluster. */
  quorumSize: number;
};

export function topology(options: TopologyOptions): Topology {
  const queue = queueMaker(options.quorumSize);
  return {
    exchanges: [
      { name: eventsExchange, type: 'topic', alternate: straysExchange },
      { name: deliveriesExchange, type: 'direct' },
      { name: retryExchange, type: 'direct' },
      { name: returnsExchange, type: 'direct', alternate: straysExchange },
      { name: outcomesExchange, type: 'fanout' },
      { name: straysExchange, type: 'fanout' },
      { name: suspectsExchange, type: 'direct' },
      { name: rejectedExchange, type: 'fanout' },
    ],
    queues: [
      queue(
        routerQueue,
        options.actionKeys.map((key) => ({ exchange: eventsExchange, routingKey: key })),
        { 'x-max-length-bytes': options.eventsLimitBytes },
      ),
      ...options.actionKeys.flatMap((key) => actionQueues(key, options.retryDelaysMs(key), queue)),
      queue(deactivatorQueue, [{ exchange: outcomesExchange, routingKey: '' }]),
      ...STEPS.map((service) => queue(suspectsQueue(service), [{ exchange: suspectsExchange, routingKey: service }])),
      queue(straysQueue, [{ exchange: straysExchange, routingKey: '' }], {
        'x-dead-letter-exchange': rejectedExchange,
      }),
      // Operators look at it again and again, and each look is a delivery.
      queue(rejectedQueue, [{ exchange: rejectedExchange, routingKey: '' }], { 'x-delivery-limit': 1_000_000_000 }),
    ],
  };
}

type QueueMaker = (name: string, bindings: Binding[], extra?: Record<string, string | number>) => Queue;

function actionQueues(actionKey: string, delaysMs: readonly number[], queue: QueueMaker): Queue[] {
  return [
    queue(deliveryQueue(actionKey), [
      { exchange: deliveriesExchange, routingKey: actionKey },
      { exchange: returnsExchange, routingKey: actionKey },
    ]),
    ...delaysMs.map((delayMs) =>
      queue(retryQueue(actionKey, delayMs), [{ exchange: retryExchange, routingKey: retryKey(actionKey, delayMs) }], {
        'x-message-ttl': delayMs,
        'x-dead-letter-exchange': returnsExchange,
        'x-dead-letter-routing-key': actionKey,
      }),
    ),
  ];
}

/** Every queue: quorum, at-least-once dead-lettering, and a delivery limit high enough to be a last resort only. */
function queueMaker(quorumSize: number): QueueMaker {
  return (name, bindings, extra = {}) => ({
    name,
    bindings,
    arguments: {
      'x-queue-type': 'quorum',
      'x-quorum-initial-group-size': quorumSize,
      'x-delivery-limit': 1_000,
      'x-dead-letter-exchange': straysExchange,
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
      ...extra,
    },
  });
}
