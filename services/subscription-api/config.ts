/** The settings of subscription-api, and what they mean for its parts. */
import type { Interface } from '@waybell/catalog/action';
import { lineTopology, readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { systemClock } from '@waybell/runtime/clock';
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
  InvalidEnvironment,
} from '@waybell/runtime/environment';
import { systemNames } from '@waybell/runtime/names/resolve-host';
import { allowsAny, readNetworks, readSourceNetworks } from '@waybell/runtime/networks';
import {
  callbackConfig,
  postgresConfig,
  processConfig,
  redisConfig,
  requestLimits,
} from '@waybell/runtime/process-config';
import { readKeyRing } from '@waybell/runtime/secrets';
import { operatorAddress } from '@waybell/runtime/server-address';
import {
  callbackSettings,
  eventSettings,
  patienceSettings,
  postgresSettings,
  processSettings,
  redisSettings,
  secretSettings,
  requestLimitSettings,
} from '@waybell/runtime/settings';
import { resolveWithin } from './callback-url.ts';
import { consoleSettings, readConsole } from './console-settings.ts';
import type { JwtRules } from './rest/authentication/by-jwt.ts';
import { DEFAULT_SCOPES, type Scope } from './tokens.ts';

/** Settings of the source networks of callbacks, and of the limits that receivers see. */
const sourceNetworkSettings = {
  CALLBACK_SOURCE_NETWORKS: words({
    default: [],
    desc: 'networks that callbacks come from, as receivers see them; told at /v1/source-networks',
    example: '203.0.113.0/28,2001:db8:9::/48',
  }),
  ...requestLimitSettings,
};

// Signatures by the issuer's private key alone: with a shared secret, a process that checks tokens could make one.
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Settings of JWT access tokens. */
const jwtSettings = {
  JWT_ISSUER: str({
    default: '',
    desc: 'issuer whose JWTs (RFC 9068) are access tokens too, exactly as in their `iss`; empty: none',
  }),
  JWT_AUDIENCE: str({ default: '', desc: 'what `aud` of a JWT has to name; required with JWT_ISSUER' }),
  JWT_JWKS_URL: str({ default: '', desc: 'https address of the keys of JWT_ISSUER; required with it' }),
  JWT_LEEWAY: constant(
    duration({ default: 5_000, desc: 'by how much the clocks of JWT_ISSUER and a process may differ' }),
  ),
  JWT_ACCOUNT_CLAIM: str({ default: 'account', desc: 'claim of a JWT with the guid of the account' }),
  JWT_CLIENT_CLAIM: str({ default: 'client_id', desc: 'claim of a JWT with the name of the client' }),
  JWT_DEFAULT_SCOPES: checked(
    words({
      default: [],
      desc: 'scopes of a JWT that has no claim `scope`, `scp`, `permissions` or `roles`',
      example: 'webhooks:read,webhooks:write',
    }),
    readDefaultScopes,
  ),
  JWT_INTERFACE_CLAIM: str({ default: 'interface', desc: 'claim of a JWT with its interface, shipper or carrier' }),
};

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
      desc: 'networks of proxies in front, whose X-Forwarded-* tell the address of the client, and the URL of the API',
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

/** An installation's settings of callbacks, for administrators of firewalls. `limits`: by interface, in milliseconds. */
export type CallbackTerms = {
  networks: readonly string[];
  isHttpAllowed: boolean;
  deniedPorts: readonly string[];
  /** The largest event. */
  eventBytes: number;
  limits: Record<Interface, { handoverMs?: number; responseMs: number }>;
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

/** Returns the queues' names, which depend on no setting but the delays. */
function queueNames(settings: Parameters<typeof readSchedule>[0]): string[] {
  const { queues } = lineTopology({ schedule: readSchedule(settings), eventsLimitBytes: 1, quorumSize: 1 });
  return queues.map(({ name }) => name);
}

function readInterfaces(names: string[]): void {
  const unknown = names.find((name) => name !== 'shipper' && name !== 'carrier');
  if (unknown !== undefined || names.length === 0) throw new Error(`"${names.join()}" is not shipper, carrier or both`);
}

type CallbackTermSettings = Parameters<typeof requestLimits>[0] & {
  CALLBACK_SOURCE_NETWORKS: string[];
  CALLBACK_ALLOW_NETWORKS: string[];
  CALLBACK_ALLOW_HTTP: boolean;
  CALLBACK_DENY_PORTS: string[];
  EVENT_MAX_SIZE: number;
};

/** Throws InvalidEnvironment if a network is invalid, or cannot be where callbacks come from. */
function readCallbackTerms(settings: CallbackTermSettings): CallbackTerms {
  return {
    networks: sourceNetworks(settings),
    isHttpAllowed: settings.CALLBACK_ALLOW_HTTP,
    deniedPorts: settings.CALLBACK_DENY_PORTS,
    eventBytes: settings.EVENT_MAX_SIZE,
    limits: requestLimits(settings),
  };
}

function sourceNetworks({
  CALLBACK_SOURCE_NETWORKS: entries,
  CALLBACK_ALLOW_NETWORKS: inside,
}: CallbackTermSettings): string[] {
  try {
    return readSourceNetworks(entries, { areInside: inside.length > 0 });
  } catch (error) {
    throw new InvalidEnvironment([`CALLBACK_SOURCE_NETWORKS: ${error instanceof Error ? error.message : 'not valid'}`]);
  }
}

type JwtEnvironment = {
  [Name in keyof typeof jwtSettings]: ReturnType<(typeof jwtSettings)[Name]['_parse']>;
};

/** Undefined if JWTs are not accepted. Throws InvalidEnvironment if they are, and something for that is missing. */
function readJwtRules(settings: JwtEnvironment): JwtRules | undefined {
  if (settings.JWT_ISSUER === '') return undefined;
  const jwksUrl = URL.parse(settings.JWT_JWKS_URL);
  const problems = [
    ...(settings.JWT_AUDIENCE === '' ? ['JWT_AUDIENCE: is required with JWT_ISSUER'] : []),
    ...(jwksUrl?.protocol === 'https:' ? [] : ['JWT_JWKS_URL: is not an https URL, and is required with JWT_ISSUER']),
  ];
  if (jwksUrl === null || problems.length > 0) throw new InvalidEnvironment(problems);
  return {
    issuer: settings.JWT_ISSUER,
    audience: settings.JWT_AUDIENCE,
    jwksUrl,
    algorithms: ALGORITHMS,
    leewayMs: settings.JWT_LEEWAY,
    defaultScopes: readDefaultScopes(settings.JWT_DEFAULT_SCOPES),
    claims: {
      account: settings.JWT_ACCOUNT_CLAIM,
      client: settings.JWT_CLIENT_CLAIM,
      interface: settings.JWT_INTERFACE_CLAIM,
    },
  };
}

function readDefaultScopes(names: readonly string[]): Scope[] {
  return names.map((word) => {
    const scope = DEFAULT_SCOPES.find((each) => each === word);
    if (scope === undefined)
      throw new Error(`"${word}" is not a scope of JWTs: there are ${DEFAULT_SCOPES.join(', ')}`);
    return scope;
  });
}
