import {
  address,
  bool,
  checked,
  constant,
  count,
  duration,
  port,
  readEnvironment,
  str,
  wait,
  words,
} from '@waybell/runtime/environment';
import { lineTopology, readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { systemClock } from '@waybell/runtime/clock';
import { allowsAny, readNetworks } from '@waybell/runtime/networks';
import { systemNames } from '@waybell/runtime/names/resolve-host';
import { readKeyRing } from '@waybell/runtime/secrets';
import { callbackConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import { operatorAddress } from '@waybell/runtime/server-address';
import {
  callbackSettings,
  eventSettings,
  patienceSettings,
  postgresSettings,
  processSettings,
  redisSettings,
  secretSettings,
} from '@waybell/runtime/settings';
import { resolveWithin } from './callback-url.ts';
import { consoleSettings, readConsole } from './console-settings.ts';
import { jwtSettings, readJwtRules } from './jwt-settings.ts';
import { readCallbackTerms, sourceNetworkSettings } from './source-network-settings.ts';

/** The settings of subscription-api. DATABASE_ROLE is best left empty: this service owns the tables. */
export const subscriptionApiSettings = {
  ...processSettings,
  ...postgresSettings,
  ...redisSettings,
  ...secretSettings,
  PORT: port({ default: 8080, desc: 'port of the REST interface' }),
  ADMIN_PORT: port({
    default: undefined,
    desc: "port of the operators' interface; without it, there is none",
  }),
  ADMIN_HOST: str({ default: '127.0.0.1', desc: "address on which the operators' interface listens" }),
  ADMIN_AMQP_URL: address(
    'amqp',
    'amqps',
  )({
    default: undefined,
    desc: "RabbitMQ as `waybell-operator`, for queues and rejected messages on the operators' interface",
  }),
  ADMIN_AMQP_TIMEOUT: constant(
    wait({
      default: 20_000,
      desc: 'limit of what a request of an operator does on RabbitMQ; what is done by then is done',
    }),
  ),
  ...scheduleSettings,
  ...eventSettings,
  ...patienceSettings,
  SERVE_INTERFACES: checked(
    words({ default: ['shipper', 'carrier'], desc: 'interfaces this process serves: shipper, carrier or both' }),
    readInterfaces,
  ),
  CALLBACK_ALLOW_HTTP: bool({ default: false, desc: 'whether a callback_url may also be http, not only https' }),
  ...callbackSettings,
  CALLBACK_RESOLVE_TIMEOUT: constant(
    wait({
      default: 2_000,
      desc: 'how long a subscribe waits for the name in callback_url; what has not resolved by then is accepted',
    }),
  ),
  ...jwtSettings,
  ...consoleSettings,
  ...sourceNetworkSettings,
  SIGNING_SECRET_OVERLAP: constant(
    duration({
      default: 86_400_000,
      desc: 'how long the signing secret before a rotation stays valid beside the new one',
    }),
  ),
  AUDIT_RETENTION: duration({
    default: 31_536_000_000,
    desc: 'how long the audit log is kept',
  }),
  REQUESTS_PER_MINUTE: count({
    per: 'client',
    default: 600,
    desc: 'requests a minute of one client, by all of its access tokens; beyond, 429',
  }),
  FAILURES_PER_MINUTE: constant(
    count({
      per: 'address',
      default: 30,
      desc: 'requests a minute of one address (IPv6: its /56) with an invalid access token; beyond, 429',
    }),
  ),
  TRUSTED_PROXIES: checked(
    words({
      default: [],
      desc: 'networks of proxies in front, whose X-Forwarded-For tells the address of the client',
      example: '10.0.0.0/8',
    }),
    readNetworks,
  ),
  REQUEST_HEADERS_TIMEOUT: constant(
    wait({
      default: 10_000,
      desc: 'limit from the start of a request to the end of its headers',
    }),
  ),
  REQUEST_TIMEOUT: constant(
    wait({ default: 30_000, desc: 'limit from the start of a request to the end of its body' }),
  ),
  ANSWER_TIMEOUT: constant(
    wait({ default: 30_000, desc: 'limit for a client to read an answer, from its first byte on' }),
  ),
  IDLE_TIMEOUT: constant(
    wait({
      default: 620_000,
      desc: 'how long a connection without a request is kept: longer than a balancer in front keeps it',
    }),
  ),
  LIVE_STREAMS_PER_CLIENT: constant(
    count({
      per: 'client and process',
      default: 10,
      desc: 'streams of /v1/live and of listeners, and requests that wait for deliveries, that one client of an account has open, at most; beyond, 429',
    }),
  ),
  LIVE_STREAMS: constant(
    count({
      per: 'process',
      default: 500,
      desc: 'streams of /v1/live and of listeners, and requests that wait for deliveries, open in all, at most; beyond, 503',
    }),
  ),
  LISTENERS_PER_CLIENT: constant(
    count({
      per: 'client',
      default: 5,
      desc: 'listeners (`waybell listen`) that one client of an account has, at most; beyond, 429',
    }),
  ),
  LISTENERS: constant(count({ per: 'installation', default: 500, desc: 'listeners in all, at most; beyond, 503' })),
  LISTENER_REQUESTS: constant(
    count({
      per: 'client and process',
      default: 20,
      desc: 'callbacks of one listener that wait for its answer, at most; beyond, 503, and they are retried',
    }),
  ),
  LISTENER_LIFE: constant(wait({ default: 30_000, desc: 'how long a listener lives without its stream' })),
  LISTENER_ANSWER_LIMIT: constant(
    wait({
      default: 55_000,
      desc: 'how long a callback waits for the answer of a listener, where its deliverer waits so long; then it is 504',
    }),
  ),
  CONNECTION_LIMIT: constant(
    count({
      per: 'port and process',
      default: 5_000,
      desc: 'connections open to each port of the API, at most',
    }),
  ),
  CONNECTIONS_PER_ADDRESS: constant(
    count({
      per: 'address and process',
      default: 500,
      desc: 'of these, connections of one address (IPv6: its /56) that is not among TRUSTED_PROXIES, at most',
    }),
  ),
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(subscriptionApiSettings, env);
  const serverLimits = {
    headersTimeoutMs: settings.REQUEST_HEADERS_TIMEOUT,
    requestTimeoutMs: settings.REQUEST_TIMEOUT,
    answerTimeoutMs: settings.ANSWER_TIMEOUT,
    idleTimeoutMs: settings.IDLE_TIMEOUT,
    connectionLimit: settings.CONNECTION_LIMIT,
    connectionsPerAddress: settings.CONNECTIONS_PER_ADDRESS,
    trustedProxies: settings.TRUSTED_PROXIES,
  };
  const { ADMIN_HOST, ADMIN_PORT, ADMIN_AMQP_URL } = settings;
  const jwt = readJwtRules(settings);
  const callbacks = callbackConfig(settings);
  return {
    ...processConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    listen: { host: settings.HOST, port: settings.PORT, ...serverLimits },
    listenAdmin: ADMIN_PORT === undefined ? undefined : { host: ADMIN_HOST, port: ADMIN_PORT, ...serverLimits },
    operatorBroker:
      ADMIN_AMQP_URL === undefined
        ? undefined
        : { address: operatorAddress(settings), limitMs: settings.ADMIN_AMQP_TIMEOUT },
    queues: queueNames(settings),
    eventLimits: { maxBytes: settings.EVENT_MAX_SIZE, maxDepth: settings.EVENT_MAX_DEPTH },
    jwt,
    console: readConsole(settings, jwt),
    auditRetentionMs: settings.AUDIT_RETENTION,
    limits: { requestsPerMinute: settings.REQUESTS_PER_MINUTE, failuresPerMinute: settings.FAILURES_PER_MINUTE },
    listenerLimits: { listenersPerClient: settings.LISTENERS_PER_CLIENT, listeners: settings.LISTENERS },
    listening: {
      lifeMs: settings.LISTENER_LIFE,
      answerLimitMs: settings.LISTENER_ANSWER_LIMIT,
      waitingLimit: settings.LISTENER_REQUESTS,
    },
    streamLimits: { streamsPerClient: settings.LIVE_STREAMS_PER_CLIENT, streams: settings.LIVE_STREAMS },
    trustedProxies: settings.TRUSTED_PROXIES,
    interfaces: settings.SERVE_INTERFACES,
    keyRing: readKeyRing(settings.SECRET_KEYS),
    maxAgeMs: settings.DELIVERY_MAX_AGE,
    overlapMs: settings.SIGNING_SECRET_OVERLAP,
    callbackTerms: readCallbackTerms(settings),
    callbackRules: {
      isHttpAllowed: settings.CALLBACK_ALLOW_HTTP,
      ...callbacks,
      resolve: resolveWithin(
        settings.CALLBACK_RESOLVE_TIMEOUT,
        () => systemNames({ clock: systemClock, searches: allowsAny(callbacks.networks) }).resolveHost,
      ),
    },
  };
}

/** The names depend on nothing that the line was declared with but the delays. */
function queueNames(settings: Parameters<typeof readSchedule>[0]): string[] {
  const { queues } = lineTopology({ schedule: readSchedule(settings), eventsLimitBytes: 1, quorumSize: 1 });
  return queues.map(({ name }) => name);
}

function readInterfaces(names: string[]): void {
  const unknown = names.find((name) => name !== 'shipper' && name !== 'carrier');
  if (unknown !== undefined || names.length === 0) throw new Error(`"${names.join()}" is not shipper, carrier or both`);
}
