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
  outcomesExchange,
  quarantineQueue,
  rejectedExchange,
  rejectedQueue,
  rejectedReader,
  rejectionsQueue,
  retryExchange,
  routerQueue,
  STEPS,
  straysQueue,
  suspectsExchange,
  suspectsQueue,
  waitingExchange,
  waitingQueue,
} from './topology.ts';

/** `*` stands for anything. */
export type Use = {
  configures?: readonly string[];
  publishesTo: readonly string[];
  takesFrom: readonly string[];
  /** Queues that it asks whether they are there, and what they hold. */
  asksAfter?: readonly string[];
};

const EVERYTHING = ['waybell.*'];
const RETRY_QUEUES = `${retryExchange}.*`;
/** All that it may not take from. Whoever may publish to the default exchange reaches each anyway. */
const QUEUES = [
  deliveryQueue('*'),
  suspectsQueue('*'),
  quarantineQueue('*'),
  RETRY_QUEUES,
  `${rejectionsQueue}*`,
  routerQueue,
  locationsQueue,
  deactivatorQueue,
  logQueue,
  straysQueue,
  waitingQueue,
];
/** The broker's own exchange that leads to any queue by its name. */
const DEFAULT_EXCHANGE = 'amq.default';

/** A service of the line, by its name. */
export type ServiceName = keyof typeof STEPS;

/** Besides its own, each service takes from the lanes of its steps, and puts aside what fails. */
function service(name: ServiceName, { takesFrom, publishesTo, asksAfter = [] }: Use): Use {
  return {
    asksAfter,
    takesFrom: [...takesFrom, ...STEPS[name].flatMap((step) => [suspectsQueue(step), quarantineQueue(step)])],
    publishesTo: [...publishesTo, suspectsExchange, rejectedExchange],
  };
}

/** The exchanges and queues that each service, command and upstream uses. Rights (`operating/permissions.ts`) and what a service waits for follow from it. */
export const USES = {
  'event-router': service('event-router', {
    takesFrom: [routerQueue, straysQueue],
    publishesTo: [deliveriesExchange, outcomesExchange, noticesExchange],
    asksAfter: [deliveryQueue('*'), logQueue, rejectionsQueue],
  }),
  deliverer: service('deliverer', {
    takesFrom: [deliveryQueue('*')],
    // A member of a bundle goes back to its queue by itself.
    publishesTo: [deliveriesExchange, retryExchange, waitingExchange, outcomesExchange, endsExchange],
    asksAfter: [RETRY_QUEUES, waitingQueue, logQueue, deactivatorQueue],
  }),
  deactivator: service('deactivator', {
    takesFrom: [deactivatorQueue],
    publishesTo: [outcomesExchange],
    asksAfter: [logQueue],
  }),
  'location-tracker': service('location-tracker', {
    takesFrom: [locationsQueue],
    publishesTo: [eventsExchange, outcomesExchange, noticesExchange],
    asksAfter: [routerQueue, logQueue, rejectionsQueue],
  }),
  /** Publishes what is sent again by hand. */
  'delivery-log': service('delivery-log', {
    takesFrom: [logQueue],
    publishesTo: [deliveriesExchange, outcomesExchange],
    asksAfter: [deliveryQueue('*')],
  }),

  /** The platform itself, which publishes events, and is told which were rejected. */
  upstream: { takesFrom: [rejectionsQueue], publishesTo: [eventsExchange] },
  /** `./waybell declare`. To bind and to dead-letter needs the right to take and to publish as well. */
  declare: { configures: EVERYTHING, takesFrom: EVERYTHING, publishesTo: EVERYTHING },
  /** `./waybell rejected`, which puts messages back to where they came from, `publish`, and `status`. */
  operator: {
    configures: [rejectedReader],
    takesFrom: [rejectedQueue],
    publishesTo: [eventsExchange, deliveriesExchange, DEFAULT_EXCHANGE],
    asksAfter: QUEUES,
  },
} as const satisfies Record<string, Use>;

export type BrokerUser = keyof typeof USES;

/** The exchanges without which a service publishes nothing. A notice is let go of where it has none. */
export const exchangesOf = (name: ServiceName): readonly string[] =>
  USES[name].publishesTo.filter((exchange) => exchange !== noticesExchange);

/** The delays of retries, and the actions that a service retries, by their keys. */
export type RetrySettings = { schedule?: Schedule; actionKeys?: readonly string[] };

/** The queues that get what a service publishes; of the retry queues, those of its own actions. */
export function queuesOf(name: ServiceName, retries: RetrySettings = {}): string[] {
  const { asksAfter = [] }: Use = USES[name];
  return [...asksAfter.flatMap((pattern) => queuesLike(pattern, retries)), rejectedQueue];
}

function queuesLike(pattern: string, { schedule, actionKeys }: RetrySettings): string[] {
  if (pattern === deliveryQueue('*')) return selectActions(['*']).map(deliveryQueue);
  if (pattern !== RETRY_QUEUES) return [pattern];
  return schedule === undefined || actionKeys === undefined ? [] : retryQueues(schedule, actionKeys);
}
