/** Settings that several services share, in groups. Those of traces come first, as every process has them. */
import {
  address,
  bytes,
  certificates,
  checked,
  constant,
  count,
  duration,
  port,
  privateKey,
  str,
  tolerated,
  wait,
  words,
} from './environment.ts';
import { DENIED_PORTS, readNat64, readNetworks, readPorts } from './networks.ts';
import { readKeyRing } from './secrets.ts';

/**
 * OpenTelemetry's names. Settings of traces never keep a process from starting: any text is accepted, and `readTracing` reports
 * its faults.
 */
export const tracingSettings = {
  OTEL_SDK_DISABLED: tolerated(str({ default: 'false', desc: 'true: no spans are made, whatever else is set' })),
  OTEL_TRACES_EXPORTER: tolerated(str({ default: 'otlp', desc: 'otlp, or none: no spans are made' })),
  OTEL_EXPORTER_OTLP_ENDPOINT: tolerated(
    str({
      default: '',
      desc: 'where spans are sent, by OTLP over HTTP, to /v1/traces there; empty: none are made',
      example: 'http://otel-collector:4318',
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tolerated(
    str({
      default: '',
      desc: 'the same, with its path, before OTEL_EXPORTER_OTLP_ENDPOINT',
      example: 'http://otel-collector:4318/v1/traces',
    }),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: tolerated(
    str({ default: 'http/protobuf', desc: 'how spans are sent: http/protobuf; with grpc none are' }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: tolerated(
    str({ default: '', desc: 'the same, before OTEL_EXPORTER_OTLP_PROTOCOL' }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: tolerated(
    str({
      default: '',
      desc: 'headers to send them with, comma-separated, percent-encoded',
      example: 'authorization=Bearer%20…',
    }),
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: tolerated(
    str({ default: '', desc: 'more of them, each before one of OTEL_EXPORTER_OTLP_HEADERS' }),
  ),
  OTEL_TRACES_SAMPLER: tolerated(
    str({
      default: 'parentbased_always_on',
      desc: 'which traces are recorded: always_on, always_off, traceidratio, or each of these after parentbased_: as upstream says, and of those that begin here all, none or a part',
    }),
  ),
  OTEL_TRACES_SAMPLER_ARG: tolerated(str({ default: '1', desc: 'that part, from 0 to 1' })),
  OTEL_SERVICE_NAME: tolerated(
    str({ default: '', desc: 'service.name of the spans; empty: waybell- and the name of the service' }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: tolerated(
    str({
      default: '',
      desc: 'more that is said of the process with its spans, comma-separated, percent-encoded',
      example: 'deployment.environment.name=staging',
    }),
  ),
};

/** Settings of every process. Each service adds its own in its config.ts. */
export const processSettings = {
  LOG_LEVEL: str({
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    desc: 'least level that is logged: debug, info, warn or error',
  }),
  HOST: str({ default: '0.0.0.0', desc: 'address to listen on: of the API, and of /livez, /readyz and /metrics' }),
  HEALTH_PORT: port({ default: 9464, desc: 'port of /livez, /readyz and /metrics' }),
  SHUTDOWN_GRACE: wait({
    default: 75_000,
    desc: 'how long a stopping process may take; the last 10 s, or half, are for giving back the rest',
  }),
  ...tracingSettings,
};

/** TLS for RabbitMQ, Postgres and Redis alike: several authorities may be in one. */
export const tlsSettings = {
  TLS_CA: certificates({
    default: '',
    desc: 'authorities of RabbitMQ, Postgres and Redis, PEM or a path; empty: those that Node.js knows',
  }),
  TLS_CERTIFICATE: certificates({
    default: '',
    desc: 'client certificate, shown to the servers that ask for one, PEM or a path',
  }),
  TLS_KEY: privateKey({ default: '', desc: 'the private key of TLS_CERTIFICATE, PEM or a path' }),
};

export const brokerSettings = {
  AMQP_URL: address(
    'amqp',
    'amqps',
  )({
    desc: 'RabbitMQ, of a cluster each node with commas; amqps:// encrypts, and checks certificate and name',
    example: 'amqp://user:password@rabbitmq:5672',
  }),
  ...tlsSettings,
  AMQP_MANAGEMENT_URL: address(
    'http',
    'https',
  )({
    default: '',
    desc: 'management API of RabbitMQ, to find policies that lose messages; by a user with the tag `policymaker`',
    example: 'http://waybell-monitor:password@rabbitmq:15672',
  }),
  CONFIRM_TIMEOUT: constant(
    wait({
      default: 30_000,
      desc: 'after this long without a confirm the fate of a publish is unknown',
    }),
  ),
  UNCONFIRMED_LIMIT: constant(
    count({
      per: 'process',
      default: 5_000,
      desc: 'messages published but not yet confirmed, at most',
    }),
  ),
};

export const postgresSettings = {
  DATABASE_URL: address(
    'postgres',
    'postgresql',
  )({
    desc: 'Postgres, several hosts with commas; ?sslmode=verify-full encrypts, and checks certificate and name',
    example: 'postgres://user:password@postgres-1:5432,postgres-2:5432/waybell?target_session_attrs=read-write',
  }),
  ...tlsSettings,
  DATABASE_ROLE: str({ default: '', desc: 'role to take on after connecting; empty: stay the user of the URL' }),
  DATABASE_POOL_SIZE: count({
    per: 'process',
    default: 5,
    desc: 'connections to Postgres: 2 at least for subscription-api; router and deliverer open up to 4 more than this',
  }),
  DATABASE_TIMEOUT: constant(wait({ default: 5_000, desc: 'limit of one connection attempt and of one statement' })),
  CLOCK_LIMIT: constant(
    duration({
      default: 30_000,
      desc: 'how far the clock may be from that of Postgres: beyond, the process is not ready and makes no attempt; 0s: as far as it likes',
    }),
  ),
};

/** Settings for the last answers of Postgres, used while it is away. */
export const lastKnownSettings = {
  LAST_KNOWN_MAX_AGE: constant(
    duration({
      default: 600_000,
      desc: 'age up to which a last-known answer is used while Postgres is away',
    }),
  ),
  LAST_KNOWN_ENTRIES: constant(count({ per: 'process', default: 100_000, desc: 'last-known answers kept, at most' })),
};

export const redisSettings = {
  REDIS_URL: address(
    'redis',
    'rediss',
    'redis+sentinel',
    'rediss+sentinel',
  )({
    desc: 'Redis; redis+sentinel://:password@a:26379,b:26379/master asks sentinels; rediss… encrypts',
    example: 'redis://redis:6379/0',
  }),
  ...tlsSettings,
  REDIS_TIMEOUT: constant(
    wait({ default: 1_000, desc: 'limit of one command; past it the line goes on without Redis' }),
  ),
};

/** Settings of the addresses that callbacks may reach, checked when a client subscribes and at each connection. */
export const callbackSettings = {
  CALLBACK_ALLOW_NETWORKS: checked(
    words({
      default: [],
      desc: 'networks that callbacks may reach although they are private or reserved',
      example: '10.20.0.0/16,fd00::/8',
    }),
    readNetworks,
  ),
  CALLBACK_DENY_NETWORKS: checked(
    words({
      default: [],
      desc: 'networks that callbacks never reach, beside private and reserved ones, even where CALLBACK_ALLOW_NETWORKS has them',
      example: '203.0.113.0/24,2001:db8:9::/48',
    }),
    (networks: string[]) => readNetworks([], networks),
  ),
  CALLBACK_NAT64_PREFIXES: checked(
    words({
      default: [],
      desc: 'prefixes of a NAT64 of your own, judged by the IPv4 address inside, as 64:ff9b::/96 is',
      example: '2001:db8:64::/96',
    }),
    readNat64,
  ),
  CALLBACK_DENY_PORTS: constant(
    checked(
      words({
        default: DENIED_PORTS,
        desc: 'ports that callbacks never reach, comma-separated; by default those of the Fetch standard and of widespread servers',
        example: '1-79,6379',
      }),
      readPorts,
    ),
  ),
};

/** Settings of processes that keep deliveries for later attempts. */
export const patienceSettings = {
  DELIVERY_MAX_AGE: duration({ default: 86_400_000, desc: 'older deliveries are given up without another attempt' }),
};

/** Settings of the limits of a request, which subscription-api shows to clients. */
export const requestLimitSettings = {
  // shipper-webhooks and carrier-webhooks, Limits.
  SHIPPER_HANDOVER_LIMIT: constant(
    wait({
      default: 10_000,
      desc: 'limit for connecting and handing a shipper request over',
    }),
  ),
  SHIPPER_RESPONSE_LIMIT: constant(
    wait({
      default: 60_000,
      desc: 'limit from the start of a shipper request to the status line',
    }),
  ),
  CARRIER_RESPONSE_LIMIT: constant(
    wait({
      default: 3_000,
      desc: 'limit from the start of a carrier request to the status line',
    }),
  ),
};

/** Settings of processes that read events. */
export const eventSettings = {
  EVENT_MAX_SIZE: constant(bytes({ per: 'event', default: 2 ** 20, desc: 'largest event, after decompression' })),
  EVENT_MAX_DEPTH: constant(count({ per: 'event', default: 32, desc: 'deepest nesting of an event' })),
};

export const secretSettings = {
  SECRET_KEYS: checked(
    str({
      desc: 'keys for secrets at rest, <id>:<32 bytes in base64>; the first encrypts, all decrypt',
      example: '2026a:5Qm…=',
    }),
    readKeyRing,
  ),
};
