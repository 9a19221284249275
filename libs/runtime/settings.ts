import { count, duration, port, str } from './environment.ts';

/** Settings of every process. Each service adds its own in its config.ts. */
export const processSettings = {
  LOG_LEVEL: str({ default: 'info', choices: ['debug', 'info', 'warn', 'error'], desc: 'least level that is logged' }),
  HEALTH_HOST: str({ default: '0.0.0.0', desc: 'address on which /livez, /readyz and /metrics listen' }),
  HEALTH_PORT: port({ default: 9464, desc: 'port of /livez, /readyz and /metrics' }),
  SHUTDOWN_GRACE: duration({ default: 75_000, desc: 'how long a stopping process may finish what it holds' }),
};

export const brokerSettings = {
  AMQP_URL: str({ desc: 'RabbitMQ, amqp:// or amqps://', example: 'amqp://user:password@rabbitmq:5672' }),
  CONFIRM_TIMEOUT: duration({
    default: 30_000,
    desc: 'after this long without a confirm the fate of a publish is unknown',
  }),
  UNCONFIRMED_LIMIT: count({ default: 5_000, desc: 'messages published but not yet confirmed, at most, per process' }),
};

export const postgresSettings = {
  DATABASE_URL: str({ desc: 'Postgres', example: 'postgres://user:password@postgres:5432/waybell' }),
  DATABASE_ROLE: str({ default: '', desc: 'role to take on after connecting; empty: stay the user of the URL' }),
  DATABASE_POOL_SIZE: count({ default: 5, desc: 'connections to Postgres, at most, per process' }),
  DATABASE_TIMEOUT: duration({ default: 5_000, desc: 'limit of one connection attempt and of one statement' }),
};

/** While Postgres is away, what it last said is used. */
export const lastKnownSettings = {
  LAST_KNOWN_MAX_AGE: duration({
    default: 600_000,
    desc: 'age up to which a last-known answer is used while Postgres is away',
  }),
  LAST_KNOWN_ENTRIES: count({ default: 100_000, desc: 'last-known answers kept, at most' }),
};

export const redisSettings = {
  REDIS_URL: str({ desc: 'Redis', example: 'redis://redis:6379/0' }),
  REDIS_TIMEOUT: duration({ default: 1_000, desc: 'limit of one command; past it the line goes on without Redis' }),
};

export const secretSettings = {
  SECRET_KEYS: str({
    desc: 'keys for secrets at rest, comma-separated <id>:<32 bytes in base64>; the first encrypts, all decrypt',
    example: '2026a:5Qm…=',
  }),
};
