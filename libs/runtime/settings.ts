import { DENIED_PORTS, readPorts } from './callback-ports.ts';
import {
  address,
  bytes,
  certificates,
  checked,
  count,
  duration,
  port,
  privateKey,
  str,
  wait,
  words,
} from './environment.ts';
import { readNetworks } from './forbidden-address.ts';
import { readNat64 } from './nat64.ts';
import { readKeyRing } from './secrets.ts';
import { tracingSettings } from './tracing-settings.ts';

const authorities = (server: string) =>
  certificates({
    default: '',
    desc: `authorities that may vouch for ${server}, PEM or a path; by default those that Node.js knows`,
  });
const certificate = (server: string) =>
  certificates({ default: '', desc: `client certificate, shown where ${server} asks for one, PEM or a path` });
const keyOf = (certificateName: string) =>
  privateKey({ default: '', desc: `the private key of ${certificateName}, PEM or a path` });

/** Settings of every process. Each service adds its own in its config.ts. */
export const processSettings = {
  LOG_LEVEL: str({ default: 'info', choices: ['debug', 'info', 'warn', 'error'], desc: 'least level that is logged' }),
  HEALTH_HOST: str({ default: '0.0.0.0', desc: 'address on which /livez, /readyz and /metrics listen' }),
  HEALTH_PORT: port({ default: 9464, desc: 'port of /livez, /readyz and /metrics' }),
  SHUTDOWN_GRACE: wait({
    default: 75_000,
    desc: 'how long a stopping process may take; of that, the last 10 s, or half, are for giving back what has not ended',
  }),
  ...tracingSettings,
};

export const brokerSettings = {
  AMQP_URL: address(
    'amqp',
    'amqps',
  )({
    desc: 'RabbitMQ; amqps:// encrypts, and checks certificate and name; of a cluster each node, comma-separated: amqp://…@a:5672,amqp://…@b:5672',
    example: 'amqp://user:password@rabbitmq:5672',
  }),
  AMQP_CA: authorities('RabbitMQ'),
  AMQP_CERTIFICATE: certificate('RabbitMQ'),
  AMQP_KEY: keyOf('AMQP_CERTIFICATE'),
  AMQP_MANAGEMENT_URL: address(
    'http',
    'https',
  )({
    default: '',
    desc: "RabbitMQ's management API, where policies are looked for that lose what our queues hold; its user, by default that of AMQP_URL, needs the tag `policymaker`; empty: they are not looked for",
    example: 'http://waybell-monitor:password@rabbitmq:15672',
  }),
  CONFIRM_TIMEOUT: wait({
    default: 30_000,
    desc: 'after this long without a confirm the fate of a publish is unknown',
  }),
  UNCONFIRMED_LIMIT: count({
    per: 'process',
    default: 5_000,
    desc: 'messages published but not yet confirmed, at most',
  }),
};

export const postgresSettings = {
  DATABASE_URL: address(
    'postgres',
    'postgresql',
  )({
    desc: 'Postgres; ?sslmode=verify-full encrypts, and checks certificate and name; of several hosts, separated by commas, the one that takes writes is used',
    example: 'postgres://user:password@postgres-1:5432,postgres-2:5432/waybell?target_session_attrs=read-write',
  }),
  DATABASE_CA: authorities('Postgres'),
  DATABASE_CERTIFICATE: certificate('Postgres'),
  DATABASE_KEY: keyOf('DATABASE_CERTIFICATE'),
  DATABASE_ROLE: str({ default: '', desc: 'role to take on after connecting; empty: stay the user of the URL' }),
  DATABASE_POOL_SIZE: count({
    per: 'process',
    default: 5,
    desc: 'connections to Postgres, at most; subscription-api has two at least; event-router and deliverer up to four more for what waits',
  }),
  DATABASE_TIMEOUT: wait({ default: 5_000, desc: 'limit of one connection attempt and of one statement' }),
  CLOCK_LIMIT: duration({
    default: 30_000,
    desc: 'how far the clock may be from that of Postgres: beyond, the process is not ready and makes no attempt; 0s: as far as it likes',
  }),
};

/** Settings for the last answers of Postgres, used while it is away. */
export const lastKnownSettings = {
  LAST_KNOWN_MAX_AGE: duration({
    default: 600_000,
    desc: 'age up to which a last-known answer is used while Postgres is away',
  }),
  LAST_KNOWN_ENTRIES: count({ per: 'process', default: 100_000, desc: 'last-known answers kept, at most' }),
};

export const redisSettings = {
  REDIS_URL: address(
    'redis',
    'rediss',
    'redis+sentinel',
    'rediss+sentinel',
  )({
    desc: 'Redis; rediss:// encrypts, and checks certificate and name; redis+sentinel://:password@sentinel-1:26379,sentinel-2:26379/master (rediss+sentinel:// with TLS) asks sentinels for the master',
    example: 'redis://redis:6379/0',
  }),
  REDIS_CA: authorities('Redis'),
  REDIS_CERTIFICATE: certificate('Redis'),
  REDIS_KEY: keyOf('REDIS_CERTIFICATE'),
  REDIS_TIMEOUT: wait({ default: 1_000, desc: 'limit of one command; past it the line goes on without Redis' }),
};

/** Settings of the addresses that callbacks may reach, checked when a client subscribes and at each connection. */
export const callbackSettings = {
  CALLBACK_ALLOW_NETWORKS: checked(
    words({
      default: [],
      desc: 'networks that callbacks may reach although they are private or reserved, comma-separated',
      example: '10.20.0.0/16,fd00::/8',
    }),
    readNetworks,
  ),
  CALLBACK_DENY_NETWORKS: checked(
    words({
      default: [],
      desc: 'networks that callbacks never reach beside those that are private or reserved, comma-separated: public ones of your own; they count before those allowed',
      example: '203.0.113.0/24,2001:db8:9::/48',
    }),
    (networks: string[]) => readNetworks([], networks),
  ),
  CALLBACK_NAT64_PREFIXES: checked(
    words({
      default: [],
      desc: 'prefixes of a NAT64 of your own, comma-separated: behind them, as behind 64:ff9b::/96, an address is judged by the IPv4 address inside',
      example: '2001:db8:64::/96',
    }),
    readNat64,
  ),
  CALLBACK_DENY_PORTS: checked(
    words({
      default: DENIED_PORTS,
      desc: 'ports that callbacks never reach, comma-separated; by default those of the Fetch standard and of widespread servers',
      example: '1-79,6379',
    }),
    readPorts,
  ),
};

/** Settings of processes that have deliveries wait. */
export const patienceSettings = {
  DELIVERY_MAX_AGE: duration({ default: 86_400_000, desc: 'older deliveries are given up without another attempt' }),
};

/** Settings of the limits of a request, which subscription-api tells. */
export const requestLimitSettings = {
  // shipper-webhooks and carrier-webhooks, Limits.
  SHIPPER_HANDOVER_LIMIT: wait({
    default: 10_000,
    desc: 'limit for connecting and handing a shipper request over',
  }),
  SHIPPER_RESPONSE_LIMIT: wait({
    default: 60_000,
    desc: 'limit from the start of a shipper request to the status line',
  }),
  CARRIER_RESPONSE_LIMIT: wait({
    default: 3_000,
    desc: 'limit from the start of a carrier request to the status line',
  }),
};

/** Settings of processes that read events. */
export const eventSettings = {
  EVENT_MAX_SIZE: bytes({ per: 'event', default: 2 ** 20, desc: 'largest event, after decompression' }),
  EVENT_MAX_DEPTH: count({ per: 'event', default: 32, desc: 'deepest nesting of an event' }),
};

export const secretSettings = {
  SECRET_KEYS: checked(
    str({
      desc: 'keys for secrets at rest, comma-separated <id>:<32 bytes in base64>; the first encrypts, all decrypt',
      example: '2026a:5Qm…=',
    }),
    readKeyRing,
  ),
};
