/**
 * The picture of the line on RabbitMQ: every exchange and queue, once, as data.
 *
 *   upstream ──▶ waybell.events ──▶ events.router ─▶ (event-router) ──▶ waybell.deliveries ──▶ deliveries.<action>
 *                   ▲  ├─▶ events.locations ─▶ (location-tracker) ─┐                              │    ▲
 *                   └──┼────────────────────────────────────────────┘                              │    │
 *                      └─ unroutable ─▶ waybell.strays ─▶ strays ─▶ (event-router) ─▶ rejected    ▼    │
 *                                             ▲                                          (deliverer)   │
 *                                             │                                           │    │       │
 *                                             └────────────── waybell.returns ◀── expiry ─┼─ waybell.retry
 *                                                                    └────────────────────┼────────────┘
 *                         (delivery-log) ◀── outcomes.log ◀── waybell.outcomes ◀──────────┤
 *                          (deactivator) ◀── ends.deactivator ◀── waybell.ends ◀──────────┤ failures, some successes
 *                          waybell.returns ◀── expiry ── waybell.waiting ◀───────────────┤ while Postgres is away, or a key is missing
 *                      (deliverer) ◀── Postgres: waiting rooms ◀──────────────────────────┘
 *          upstream ◀── rejections ◀── waybell.notices ◀── (event-router, location-tracker): which events were rejected
 *          upstream ◀── operations ◀────────┴──────── ◀── (deactivator): which subscriptions go off, fail or wait
 *
 * Why each argument is as it is: docs/decisions/0003-topology.md.
 */
import { formatDuration } from '@waybell/runtime/duration';
import { noticeKey, noticeKinds } from './operations-notice.ts';

export const eventsExchange = 'waybell.events';
export const deliveriesExchange = 'waybell.deliveries';
export const retryExchange = 'waybell.retry';
export const returnsExchange = 'waybell.returns';
export const outcomesExchange = 'waybell.outcomes';
export const endsExchange = 'waybell.ends';
/** Leads to one queue, whose messages return with the routing key that they were published with. */
export const waitingExchange = 'waybell.waiting';
export const straysExchange = 'waybell.strays';
export const suspectsExchange = 'waybell.suspected';
export const rejectedExchange = 'waybell.rejected';
/**
 * Carries notices of rejected events to the user that published them or, if that user has no queue, to all others; and notices of
 * subscriptions, by their kind. No queue has
 * the name of either exchange: a user that may consume a queue could otherwise bind the exchange to an exchange that it publishes
 * to.
 */
export const noticesExchange = 'waybell.notices';
export const otherNoticesExchange = 'waybell.notices.others';
/** Takes notices of subscriptions, so that without their queue they are unroutable, and do not go to those who publish events. */
export const operationsExchange = 'waybell.notices.operations';

export const routerQueue = 'waybell.events.router';
export const locationsQueue = 'waybell.events.locations';
export const deactivatorQueue = 'waybell.ends.deactivator';
export const logQueue = 'waybell.outcomes.log';
export const waitingQueue = 'waybell.waiting';
export const straysQueue = 'waybell.strays';
export const rejectedQueue = 'waybell.rejected';
export const rejectionsQueue = 'waybell.rejections';
/** The queue of notices about clients' subscriptions, which the platform passes on to its clients. */
export const operationsQueue = 'waybell.operations';
/** Names the rejections queue of one user that publishes events. */
export const rejectionsQueueOf = (user: string): string => `${rejectionsQueue}.${user}`;
/** True for queues that upstream reads when it likes: their messages are no backlog of the line. */
export const isForUpstream = (queue: string): boolean => queue === operationsQueue || queue.startsWith(rejectionsQueue);
/** Exists while an operator's command reads the rejected queue, and belongs to that command's connection alone. */
export const rejectedReader = 'waybell.rejected.reader';

export const deliveryQueue = (actionKey: string): string => `waybell.deliveries.${actionKey}`;
/** Delay before a delivery that cannot be put into its room, or whose key is missing, is tried again. */
export const WAITING_MS = 30_000;
export const suspectsQueue = (step: string): string => `waybell.suspected.${step}`;
export const isSuspectsQueue = (queue = ''): boolean => queue.startsWith(suspectsQueue(''));
export const retryKey = (actionKey: string, delayMs: number): string => `${actionKey}.${formatDuration(delayMs)}`;
export const retryQueue = (actionKey: string, delayMs: number): string =>
  `waybell.retry.${retryKey(actionKey, delayMs)}`;

/**
 * The suspects lanes of each service: one for each step that takes from queues. The four for steps that publish rows (`silent-vehicles`,
 * `deactivations`, `notices`, `sent-by-hand`) are filled by 0.3.0 only; this release empties them, the next one has none.
 */
export const LANES = {
  'event-router': ['event-router', 'strays'],
  'location-tracker': ['location-tracker', 'silent-vehicles'],
  deliverer: ['deliverer'],
  deactivator: ['deactivator', 'deactivations', 'notices'],
  'delivery-log': ['delivery-log', 'sent-by-hand'],
} as const;
const lanes: readonly string[] = Object.values(LANES).flat();
export const isLane = (step: string): boolean => lanes.includes(step);

export type Exchange = {
  name: string;
  type: 'topic' | 'direct' | 'fanout';
  alternate?: string;
  /** To exchanges before it in the list. */
  bindings?: Binding[];
};
export type Queue = { name: string; arguments: Record<string, string | number>; bindings: Binding[] };
export type Binding = { exchange: string; routingKey: string };
export type Topology = { exchanges: Exchange[]; queues: Queue[] };

export type TopologyOptions = {
  /** `<interface>.<action>` of every action, in the order of the catalog. */
  actionKeys: readonly string[];
  /** Keys of the events that say where vehicles are: they are tracked, not routed. */
  locationKeys: readonly string[];
  /** The distinct retry delays of an action. */
  retryDelaysMs: (actionKey: string) => readonly number[];
  /** Beyond this a queue of events refuses publishes: upstream's confirm fails, instead of the broker's disk filling up. */
  eventsLimitBytes: number;
  /** Members of a quorum queue at declaration; the broker caps it at the size of the cluster. */
  quorumSize: number;
};

export function topology(options: TopologyOptions): Topology {
  const queue = queueMaker(options.quorumSize);
  const eventsQueue = (name: string, keys: readonly string[]) =>
    queue(
      name,
      keys.map((key) => ({ exchange: eventsExchange, routingKey: key })),
      { 'x-max-length-bytes': options.eventsLimitBytes },
    );
  return {
    exchanges: [
      { name: eventsExchange, type: 'topic', alternate: straysExchange },
      { name: deliveriesExchange, type: 'direct' },
      { name: retryExchange, type: 'direct' },
      { name: returnsExchange, type: 'direct', alternate: straysExchange },
      { name: waitingExchange, type: 'fanout' },
      { name: outcomesExchange, type: 'fanout' },
      { name: endsExchange, type: 'direct' },
      { name: straysExchange, type: 'fanout' },
      { name: suspectsExchange, type: 'direct' },
      { name: rejectedExchange, type: 'fanout' },
      { name: noticesExchange, type: 'direct', alternate: otherNoticesExchange },
      { name: otherNoticesExchange, type: 'fanout' },
      {
        name: operationsExchange,
        type: 'fanout',
        bindings: noticeKinds.map((kind) => ({ exchange: noticesExchange, routingKey: noticeKey(kind) })),
      },
    ],
    queues: [
      eventsQueue(routerQueue, options.actionKeys),
      eventsQueue(locationsQueue, options.locationKeys),
      ...options.actionKeys.flatMap((key) => actionQueues(key, options.retryDelaysMs(key), queue)),
      queue(waitingQueue, [{ exchange: waitingExchange, routingKey: '' }], {
        'x-message-ttl': WAITING_MS,
        'x-dead-letter-exchange': returnsExchange,
      }),
      queue(deactivatorQueue, [{ exchange: endsExchange, routingKey: '' }]),
      queue(logQueue, [{ exchange: outcomesExchange, routingKey: '' }]),
      ...lanes.map((step) =>
        queue(suspectsQueue(step), [{ exchange: suspectsExchange, routingKey: step }], { 'x-delivery-limit': 20 }),
      ),
      queue(straysQueue, [{ exchange: straysExchange, routingKey: '' }], {
        'x-dead-letter-exchange': rejectedExchange,
      }),
      // Every read by an operator counts as a delivery.
      queue(rejectedQueue, [{ exchange: rejectedExchange, routingKey: '' }], { 'x-delivery-limit': 1_000_000_000 }),
      noticeQueue(rejectionsQueue, [{ exchange: otherNoticesExchange, routingKey: '' }], options.quorumSize),
      noticeQueue(operationsQueue, [{ exchange: operationsExchange, routingKey: '' }], options.quorumSize),
    ],
  };
}

/** Specifies the queue for notices of rejected events of one user. */
export function ownNotices(user: string, quorumSize: number): Queue {
  return noticeQueue(rejectionsQueueOf(user), [{ exchange: noticesExchange, routingKey: user }], quorumSize);
}

const NOTICES_BYTES = 64 * 2 ** 20;
const NOTICES_MS = 7 * 86_400_000;

/**
 * The content of notices is stored in Postgres too, so they may be lost: the oldest go when there are too many or when they expire.
 */
function noticeQueue(name: string, bindings: Binding[], quorumSize: number): Queue {
  return {
    name,
    bindings,
    arguments: {
      'x-queue-type': 'quorum',
      'x-quorum-initial-group-size': quorumSize,
      // Reading a notice does not use it up, as in the rejected queue.
      'x-delivery-limit': 1_000_000_000,
      'x-overflow': 'drop-head',
      'x-max-length-bytes': NOTICES_BYTES,
      'x-message-ttl': NOTICES_MS,
    },
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

/** Makes quorum queues with at-least-once dead-lettering, and with a delivery limit high enough to be a last resort only. */
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
