import { retryQueues, selectActions, type Schedule } from './line-topology.ts';
import {
  deactivatorQueue,
  deliveriesExchange,
  deliveryQueue,
  endsExchange,
  eventsExchange,
  locationsQueue,
  logQueue,
  noticesExchange,
  operationsQueue,
  outcomesExchange,
  rejectedExchange,
  rejectedQueue,
  rejectedReader,
  rejectionsQueue,
  retryExchange,
  returnsExchange,
  routerQueue,
  STEPS,
  straysQueue,
  suspectsExchange,
  suspectsQueue,
  waitingExchange,
  waitingQueue,
} from './topology.ts';

/** `*` matches everything. */
export type Use = {
  configures?: readonly string[];
  publishesTo: readonly string[];
  takesFrom: readonly string[];
  /** Queues whose existence and depth it queries. */
  asksAfter?: readonly string[];
};

const EVERYTHING = ['waybell.*'];
const RETRY_QUEUES = `${retryExchange}.*`;
/** Queues that `operator` may not consume. Whoever may publish to the default exchange reaches every queue anyway. */
const QUEUES = [
  deliveryQueue('*'),
  suspectsQueue('*'),
  RETRY_QUEUES,
  `${rejectionsQueue}*`,
  routerQueue,
  locationsQueue,
  deactivatorQueue,
  logQueue,
  straysQueue,
  waitingQueue,
  operationsQueue,
];
/** RabbitMQ's default exchange, which reaches any queue by its name. */
const DEFAULT_EXCHANGE = 'amq.default';

export type ServiceName = keyof typeof STEPS;

/** Adds that each service consumes the suspects lanes of its steps and publishes to them. */
function service(name: ServiceName, { takesFrom, publishesTo, asksAfter = [] }: Use): Use {
  return {
    asksAfter,
    takesFrom: [...takesFrom, ...STEPS[name].map(suspectsQueue)],
    publishesTo: [...publishesTo, suspectsExchange, rejectedExchange],
  };
}

/**
 * The exchanges and queues that each service, command and upstream uses. Permissions (`operating/permissions.ts`) and readiness
 * follow from it.
 */
export const USES = {
  'event-router': service('event-router', {
    takesFrom: [routerQueue, straysQueue],
    publishesTo: [deliveriesExchange, outcomesExchange, noticesExchange],
    asksAfter: [deliveryQueue('*'), logQueue, rejectionsQueue],
  }),
  deliverer: service('deliverer', {
    takesFrom: [deliveryQueue('*')],
    // Members of a batch return to their queue one by one, by the exchange by which they came.
    publishesTo: [deliveriesExchange, returnsExchange, retryExchange, waitingExchange, outcomesExchange, endsExchange],
    asksAfter: [RETRY_QUEUES, waitingQueue, logQueue, deactivatorQueue],
  }),
  deactivator: service('deactivator', {
    takesFrom: [deactivatorQueue],
    publishesTo: [outcomesExchange, noticesExchange],
    asksAfter: [logQueue],
  }),
  'location-tracker': service('location-tracker', {
    takesFrom: [locationsQueue],
    publishesTo: [eventsExchange, outcomesExchange, noticesExchange],
    asksAfter: [routerQueue, logQueue, rejectionsQueue],
  }),
  /** Publishes deliveries that are sent again by hand. */
  'delivery-log': service('delivery-log', {
    takesFrom: [logQueue],
    publishesTo: [deliveriesExchange, outcomesExchange],
    asksAfter: [deliveryQueue('*')],
  }),

  /** The platform: publishes events, and reads notices of rejected events and of subscriptions. */
  upstream: { takesFrom: [rejectionsQueue, operationsQueue], publishesTo: [eventsExchange] },
  /** `./waybell declare`. Binding and dead-lettering also need the permissions to consume and to publish. */
  declare: { configures: EVERYTHING, takesFrom: EVERYTHING, publishesTo: EVERYTHING },
  /** `./waybell rejected`, which returns messages to where they came from, `publish`, and `status`. */
  operator: {
    configures: [rejectedReader],
    takesFrom: [rejectedQueue],
    publishesTo: [eventsExchange, deliveriesExchange, DEFAULT_EXCHANGE],
    asksAfter: QUEUES,
  },
} as const satisfies Record<string, Use>;

export type BrokerUser = keyof typeof USES;

/** Lists the exchanges that a service needs before it publishes anything. Notices are dropped if theirs is missing. */
export const exchangesOf = (name: ServiceName): readonly string[] =>
  USES[name].publishesTo.filter((exchange) => exchange !== noticesExchange);

/** The retry delays, and the keys of the actions that a service retries. */
export type RetrySettings = { schedule?: Schedule; actionKeys?: readonly string[] };

/** Lists the queues that receive a service's publications; of the retry queues, only those of its actions. */
export function queuesOf(name: ServiceName, retries: RetrySettings = {}): string[] {
  const { asksAfter = [] }: Use = USES[name];
  return [...asksAfter.flatMap((pattern) => queuesLike(pattern, retries)), rejectedQueue];
}

function queuesLike(pattern: string, { schedule, actionKeys }: RetrySettings): string[] {
  if (pattern === deliveryQueue('*')) return selectActions(['*']).map(deliveryQueue);
  if (pattern !== RETRY_QUEUES) return [pattern];
  return schedule === undefined || actionKeys === undefined ? [] : retryQueues(schedule, actionKeys);
}
