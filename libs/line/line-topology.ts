/**
 * The topology of all actions of the catalog, and who uses which part of it: the retry schedule (`scheduleSettings`), the exchanges
 * and queues of each service, command and upstream (`USES`), and what follows from these: the names that readiness checks, and
 * RabbitMQ's permissions. `topology.ts` has the names and queues themselves, without the catalog.
 */
import { actionKey, actions, reports } from '@waybell/catalog/actions';
import { durations } from '@waybell/runtime/environment';
import type { InterfaceName } from './outcomes.ts';
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
  retryQueue,
  returnsExchange,
  routerQueue,
  LANES,
  straysQueue,
  suspectsExchange,
  suspectsQueue,
  topology,
  type Topology,
  waitingExchange,
  waitingQueue,
} from './topology.ts';

/** Returns the topology of all actions of the catalog, with the retry queues that the schedule needs. */
export function lineTopology(options: { schedule: Schedule; eventsLimitBytes: number; quorumSize: number }): Topology {
  const delaysMs = retryDelaysMs(options.schedule);
  return topology({
    actionKeys: [...delaysMs.keys()],
    locationKeys: reports.map(actionKey),
    retryDelaysMs: (key) => delaysMs.get(key) ?? [],
    eventsLimitBytes: options.eventsLimitBytes,
    quorumSize: options.quorumSize,
  });
}

/**
 * Retry delays (shipper-webhooks and carrier-webhooks, Limits). Read by the command that declares the retry queues and by the
 * deliverer, which fills them.
 */
export const scheduleSettings = {
  SHIPPER_RETRY_DELAYS: durations({
    default: [60_000, 60_000, 60_000, 60_000, 60_000],
    desc: 'delays before the 1st, 2nd, … retry of a shipper notification',
  }),
  CARRIER_RETRY_DELAYS: durations({
    default: [1_000, 2_000, 4_000],
    desc: 'delays before the 1st, 2nd, … retry of a carrier notification',
  }),
};

export type Schedule = Record<InterfaceName, readonly number[]>;

export function readSchedule(settings: { SHIPPER_RETRY_DELAYS: number[]; CARRIER_RETRY_DELAYS: number[] }): Schedule {
  return { shipper: settings.SHIPPER_RETRY_DELAYS, carrier: settings.CARRIER_RETRY_DELAYS };
}

/** Lists the retry queues of these actions. */
function retryQueues(schedule: Schedule, actionKeys: readonly string[]): string[] {
  const delaysMs = retryDelaysMs(schedule);
  return actionKeys.flatMap((key) => delaysMs.get(key)?.map((delayMs) => retryQueue(key, delayMs)) ?? []);
}

/** Returns the distinct delays of each action, by its key. */
function retryDelaysMs(schedule: Schedule): Map<string, number[]> {
  return new Map(actions.map((action) => [actionKey(action), [...new Set(schedule[action.interface])]]));
}

/**
 * Returns the keys of the actions that `patterns` match: `*`, `shipper.*`, `carrier.order.created`. Throws, naming the pattern,
 * if one matches none.
 */
export function selectActions(patterns: readonly string[]): string[] {
  const keys = actions.map(actionKey);
  const selected = patterns.flatMap((pattern) => {
    const matching = keys.filter((key) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
    if (matching.length === 0)
      throw new Error(`no action matches "${pattern}": write *, shipper.*, or carrier.order.created`);
    return matching;
  });
  return [...new Set(selected)];
}

/** `*` matches everything. */
type Use = {
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

export type ServiceName = keyof typeof LANES;

/** Adds that each service consumes the suspects lanes of its steps and publishes to them. */
function service(name: ServiceName, { takesFrom, publishesTo, asksAfter = [] }: Use): Use {
  return {
    asksAfter,
    takesFrom: [...takesFrom, ...LANES[name].map(suspectsQueue)],
    publishesTo: [...publishesTo, suspectsExchange, rejectedExchange],
  };
}

/**
 * The exchanges and queues that each service, command and upstream uses. Permissions and readiness
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

/** RabbitMQ's permissions of a user: three regular expressions over names of exchanges and queues. */
type Permissions = { configure: string; write: string; read: string };

/** Returns the RabbitMQ user name. */
export const brokerUser = (user: string): string => `waybell-${user}`;

/** Permissions of each service and of the other users. Only `declare` and `operator` may configure anything. */
export const permissions: Readonly<Record<BrokerUser, Permissions>> = Object.fromEntries(
  Object.entries<Use>(USES).map(([user, { configures = [], publishesTo, takesFrom, asksAfter = [] }]) => [
    user,
    // Since 4.3.1 a passive declare needs some right to the queue. The right to write allows least.
    { configure: patternOf(configures), write: patternOf([...publishesTo, ...asksAfter]), read: patternOf(takesFrom) },
  ]),
  // The keys are those of USES.
) as Record<BrokerUser, Permissions>;

/** Returns a pattern that matches exactly these names; without names, nothing. */
function patternOf(names: readonly string[]): string {
  const escaped = [...new Set(names)].map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*'));
  return escaped.length === 0 ? '^$' : `^(${escaped.join('|')})$`;
}
