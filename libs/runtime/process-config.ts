/** Settings of libs/runtime/settings.ts as the functions that use them want them. */

export function processConfig(settings: {
  LOG_LEVEL: string;
  HEALTH_HOST: string;
  HEALTH_PORT: number;
  SHUTDOWN_GRACE: number;
}) {
  return { process: settings, graceMs: settings.SHUTDOWN_GRACE };
}

export function postgresConfig(settings: {
  DATABASE_URL: string;
  DATABASE_ROLE: string;
  DATABASE_POOL_SIZE: number;
  DATABASE_TIMEOUT: number;
}) {
  return {
    postgres: {
      url: settings.DATABASE_URL,
      role: settings.DATABASE_ROLE,
      poolSize: settings.DATABASE_POOL_SIZE,
      timeoutMs: settings.DATABASE_TIMEOUT,
    },
  };
}

export function redisConfig(settings: { REDIS_URL: string; REDIS_TIMEOUT: number }) {
  return { redis: { url: settings.REDIS_URL, timeoutMs: settings.REDIS_TIMEOUT } };
}

export function brokerConfig(settings: { AMQP_URL: string; CONFIRM_TIMEOUT: number; UNCONFIRMED_LIMIT: number }) {
  return {
    broker: {
      url: settings.AMQP_URL,
      confirmTimeoutMs: settings.CONFIRM_TIMEOUT,
      unconfirmedLimit: settings.UNCONFIRMED_LIMIT,
    },
  };
}
