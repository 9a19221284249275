/** Constants that once were settings, each with its value as docs write it. */
const CONSTANTS = {
  ADMIN_AMQP_TIMEOUT: '20s',
  ANSWER_TIMEOUT: '30s',
  CALLBACK_RESOLVE_TIMEOUT: '2s',
  CARRIER_RESPONSE_LIMIT: '3s',
  CLOCK_LIMIT: '30s',
  CONFIRM_TIMEOUT: '30s',
  CONNECTIONS_PER_ADDRESS: '500',
  CONNECTION_LIMIT: '5000',
  CONNECT_LIMIT: '10s',
  DATABASE_TIMEOUT: '5s',
  DEACTIVATE_HELD: '20',
  DEACTIVATE_HELD_BYTES: '4MiB',
  DEACTIVATION_CLAIM: '30s',
  DEACTIVATION_SURGE_FEW: '4',
  DEACTIVATION_SURGE_MANY: '20',
  DEACTIVATION_SWEEP_INTERVAL: '500ms',
  DEACTIVATION_WINDOW: '1d',
  DELIVER_ENDPOINTS: '100000',
  DELIVER_HELD_BYTES: '16MiB',
  DELIVER_PATIENCE: '1100ms',
  DELIVER_SLOW: '1s',
  DELIVER_UNPROVEN_PERCENT: '20',
  EVENT_MAX_DEPTH: '32',
  EVENT_MAX_SIZE: '1MiB',
  FAILURES_PER_MINUTE: '30',
  GEOCODER_CACHE: '100000',
  GEOCODER_LIMIT: '2s',
  GPS_CLAIM: '30s',
  GPS_DISTANCE: '1000',
  GPS_REMEMBER: '7d',
  GPS_SILENCE: '1h',
  GPS_SWEEP_INTERVAL: '1m',
  IDLE_TIMEOUT: '620s',
  JWT_LEEWAY: '5s',
  KEEP_ALIVE: '4s',
  LAST_KNOWN_ENTRIES: '100000',
  LAST_KNOWN_MAX_AGE: '10m',
  LISTENERS: '500',
  LISTENERS_PER_CLIENT: '5',
  LISTENER_ANSWER_LIMIT: '55s',
  LISTENER_LIFE: '30s',
  LISTENER_REQUESTS: '20',
  LIVE_STREAMS: '500',
  LIVE_STREAMS_PER_CLIENT: '10',
  LOG_HELD: '200',
  LOG_HELD_BYTES: '8MiB',
  LOG_SEND_CLAIM: '30s',
  LOG_SEND_INTERVAL: '500ms',
  QUORUM_SIZE: '3',
  REDIS_TIMEOUT: '1s',
  REMEMBER_ATTEMPTS: '1h',
  REMEMBER_EVENTS: '1d',
  REQUEST_HEADERS_TIMEOUT: '10s',
  REQUEST_TIMEOUT: '30s',
  ROUTE_HELD: '1024',
  ROUTE_HELD_BYTES: '16MiB',
  ROUTE_PAUSE_DEPTH: '200000',
  SHIPPER_HANDOVER_LIMIT: '10s',
  SHIPPER_RESPONSE_LIMIT: '1m',
  SIGNING_SECRET_OVERLAP: '1d',
  TRACK_HELD: '1000',
  TRACK_HELD_BYTES: '4MiB',
  UNCONFIRMED_LIMIT: '5000',
  WAITING_MAX_ROWS: '1000000',
};

/** The same, where a sentence says more than the value. */
const DERIVED = {
  CALLBACK_DENY_PORTS: 'the ports that /v1/source-networks tells are refused always',
  DELIVER_HELD: 'as many are held as DELIVER_SLOTS says, 1024 at least',
  SHUTDOWN_ALLOW_SHORT: 'SHUTDOWN_GRACE has to be long enough for the longest request',
  WAITING_MAX_BYTES: 'an account has a tenth of WAITING_ALL_MAX_BYTES',
};

const waitingBytes = 'set WAITING_ALL_MAX_BYTES, of which an account has a tenth';

const REPLACED = {
  BUNDLE_MEMBERS: 'deliveries travel in batches always',
  HEALTH_HOST: 'HOST holds for /livez, /readyz and /metrics too',
  JWT_ALGORITHMS: 'every algorithm is taken by which a private key alone can sign',
  KEPT_MAX_BYTES: waitingBytes,
  PARKED_ALL_MAX_BYTES: waitingBytes,
  PARKED_ALL_MAX_ROWS: waitingBytes,
  PARKED_MAX_BYTES: waitingBytes,
  PARKED_MAX_ROWS: waitingBytes,
  ...Object.fromEntries(
    ['AMQP', 'DATABASE', 'REDIS'].flatMap((server) =>
      ['CA', 'CERTIFICATE', 'KEY'].map((part) => [
        `${server}_${part}`,
        `set TLS_${part}, which holds for RabbitMQ, Postgres and Redis`,
      ]),
    ),
  ),
};

/** Names that were settings, each with what holds in its place. */
export const goneSettings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(CONSTANTS).map(([name, value]) => [name, `it is ${value} always`])),
  ...DERIVED,
  ...REPLACED,
};

export const constantNames: readonly string[] = [...Object.keys(CONSTANTS), ...Object.keys(DERIVED)];

/** Before the name of a constant, the variable by which tests and benches change it. No operator does. */
const CHANGE = 'WAYBELL_TEST_';

/** Settings as tests write them, with constants among them, as variables that a process takes. */
export function withConstants(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = Object.entries(settings);
  return Object.fromEntries(
    entries.map(([name, value]) => [constantNames.includes(name) ? `${CHANGE}${name}` : name, value]),
  );
}

/** The constants that the environment changes, by name. */
export function changedConstants(env: NodeJS.ProcessEnv): Record<string, string> {
  const isGiven = (value: string | undefined): value is string => value !== undefined && value !== '';
  return Object.fromEntries(
    constantNames.flatMap((name) => {
      const value = env[`${CHANGE}${name}`];
      return isGiven(value) ? [[name, value]] : [];
    }),
  );
}

/** Faults of names in the environment: each that is gone, and each change of what is no constant. */
export function goneIn(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== '')
    .flatMap((name) => {
      const instead = goneSettings[name.replace(/_FILE$/, '')];
      if (instead !== undefined) return [`${name} is gone: ${instead}`];
      const isChange = name.startsWith(CHANGE) && !constantNames.includes(name.slice(CHANGE.length));
      return isChange ? [`${name}: there is no such constant`] : [];
    })
    .toSorted();
}
