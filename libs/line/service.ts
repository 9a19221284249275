/** The common parts of the line's services; each begins with `startService`. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '@waybell/runtime/clock';
import { type ClockWatch, watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { Login } from '@waybell/runtime/login';
import { applicationName, BY_KEY, connectPostgres, type Postgres, type Queryable } from '@waybell/runtime/postgres';
import type { brokerConfig, postgresConfig, processConfig, redisConfig } from '@waybell/runtime/process-config';
import { type ProcessParts, startProcess } from '@waybell/runtime/process-parts';
import type { Redis, RedisOptions } from '@waybell/runtime/redis';
import { checkSchema, MIGRATIONS, raiseSequences, relyOnPostgres, relyOnRedis } from '@waybell/runtime/reliance';
import type { Broker } from './broker.ts';
import { connectBroker } from './broker/connect-broker.ts';
import type { ClaimedRows } from './claimed/claimed-rows.ts';
import { publishClaimed, type PublishingClaimed, publishRepeatedly } from './claimed/publish-claimed.ts';
import { watchPublishing } from './line-metrics.ts';
import { exchangesOf, queuesOf, type RetrySettings, type ServiceName } from './line-topology.ts';
import { type Once, onceInRedis } from './once.ts';
import { type RunningStep, runStep, type Step, type StepTools } from './run-step.ts';
import { WAITING_SETTINGS, waitingIn } from './waiting-room/postgres-waiting-store.ts';
import { WaitingMetrics } from './waiting-room/waiting-metrics.ts';
import { WaitingPublications } from './waiting-room/waiting-publications.ts';
import type { readWaiting, WaitingStore } from './waiting-room/waiting-store.ts';

/** With `redis` a service connects to Redis; with `waiting` it has a waiting room in Postgres, also for what RabbitMQ does not take. */
export type ServiceConfig = ReturnType<typeof processConfig> &
  ReturnType<typeof postgresConfig> &
  ReturnType<typeof brokerConfig> &
  Partial<ReturnType<typeof redisConfig>> &
  RetrySettings & { waiting?: ReturnType<typeof readWaiting> };

/** A running service. Disposal closes RabbitMQ first, then Redis and Postgres, and the process's own HTTP server last. */
export type Service<C extends ServiceConfig = ServiceConfig> = ProcessParts & {
  config: C;
  postgres: Postgres;
  redis: C extends { redis: object } ? Redis : undefined;
  /** Compares the clocks of this process and of Postgres. */
  clocks: Pick<ClockWatch, 'guard'>;
  broker: Broker;
  waiting: C extends { waiting: object } ? { store: WaitingStore; metrics: WaitingMetrics } : undefined;
  /** Runs a step and adds it to the process's readiness. `tools` add to the service's own. */
  run<M>(step: Step<M>, tools?: Partial<StepTools<M>>): RunningStep;
  publishClaimed<Row>(name: string, rows: ClaimedRows<Row>): PublishingClaimed;
  /** Publishes due rows again and again. */
  publishRepeatedly<Row>(name: string, rows: ClaimedRows<Row>, how: Repetition): AsyncDisposable;
  /** Resolves when the process is asked to stop. */
  untilStopped(): Promise<void>;
};

export type Repetition = { intervalMs: number; warning: string };

/** Connections to Postgres for the waiting room; idle ones are closed. */
const ROOM_CONNECTIONS = 4;

/** A table or function in Postgres that each service needs: until it is granted, the service does nothing. */
const REQUIRED_GRANTS: Record<ServiceName, string> = {
  'event-router': 'waybell.subscription_targets',
  deliverer: 'waybell.delivery_targets, waybell.valid_signing_secrets',
  deactivator: "waybell.note_ends('{}', '{}', '{}', '{}', '{}', '{}')",
  'location-tracker': 'waybell.tracked_vehicles',
  'delivery-log': 'delivery_log.attempts',
};

/**
 * Starts a service's process and connects it. Resolves when Postgres grants what the service needs; readiness reports anything
 * else that is away. Exits if the configuration is not valid.
 */
export async function startService<C extends ServiceConfig>(
  name: ServiceName,
  readConfig: (env: NodeJS.ProcessEnv) => C,
): Promise<Service<C>> {
  const config = configOrExit(readConfig);
  await using opened = new AsyncDisposableStack();
  const parts = opened.use(await startProcess(name, config.process));
  const { log, metrics, readiness, shutdown } = parts;
  const logins = {
    postgres: new Login('Postgres', config.postgres),
    redis: config.redis && new Login('Redis', config.redis),
  };
  for (const login of Object.values(logins)) readiness.watch(() => login?.waitingFor() ?? []);
  const { postgres, waiting, redis } = opened.use(await connectStores(name, config, { ...parts, logins }));
  await readiness.until('postgres', () => postgres.query(`select from ${REQUIRED_GRANTS[name]} limit 0`));
  await readiness.until(MIGRATIONS, () => checkSchema(postgres));
  const also = name === 'delivery-log' ? (connected: Queryable) => raiseSequences(connected, log) : undefined;
  const relied = {
    ...config.postgres,
    name: applicationName(name),
    login: logins.postgres,
    log,
    ...(also && { also }),
  };
  opened.use(relyOnPostgres(relied, parts));
  if (redis !== undefined) opened.use(relyOnRedis(redis, parts));
  const clocks = opened.use(await watchClock(postgres, { limitMs: config.clockLimitMs, log, readiness }));
  const exchanges = exchangesOf(name);
  const publishesTo = queuesOf(name, config);
  const broker = opened.use(await connectBroker({ ...config.broker, exchanges, publishesTo, name, log }));
  watchPublishing(broker.publishing, metrics);
  readiness.watch(() => broker.waitingFor());
  const publications =
    waiting && opened.use(new WaitingPublications({ ...waiting, broker, log, clock: systemClock, now: Date.now }));
  const puts = publications && { putPublication: publications.put };
  let once: Once | undefined;

  const tools = { broker, ...parts };
  const service: Omit<Service<C>, symbol> = {
    ...parts,
    config,
    postgres,
    // Present if the configuration names them, which the type parameter cannot express.
    redis: redis as Service<C>['redis'],
    clocks,
    broker,
    waiting: waiting as Service<C>['waiting'],
    run(step, own) {
      if (redis !== undefined && step.once !== undefined) once ??= onceInRedis(redis, parts);
      const running = runStep(step, { ...tools, ...puts, ...(once && { once }), ...own });
      readiness.watch(() => running.waitingFor());
      return running;
    },
    publishClaimed: (step, rows) => publishClaimed(step, rows, tools),
    publishRepeatedly(step, rows, how) {
      const both = new AsyncDisposableStack();
      const publishing = both.use(publishClaimed(step, rows, tools));
      both.use(publishRepeatedly(publishing, { ...how, until: shutdown.begun, log }));
      return both;
    },
    untilStopped: () => shutdown.untilBegun(),
  };
  const closing = opened.move();
  return { ...service, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

/** Connects to Postgres and Redis. */
async function connectStores(
  name: ServiceName,
  config: ServiceConfig,
  { log, metrics, logins }: ProcessParts & { logins: { postgres: Login; redis: Login | undefined } },
) {
  const closing = new AsyncDisposableStack();
  const connect = (own = {}) =>
    closing.use(
      connectPostgres({ ...config.postgres, login: logins.postgres, name: applicationName(name), ...own, log }),
    );
  const roomsOf = (service: 'router' | 'deliverer') =>
    waitingIn(connect({ poolSize: ROOM_CONNECTIONS, settings: WAITING_SETTINGS }), { service, process: randomUUID() });
  return {
    // A service with a waiting room queries receivers by key.
    postgres: connect(config.waiting && { settings: BY_KEY }),
    waiting: config.waiting && {
      store: roomsOf(name === 'deliverer' ? 'deliverer' : 'router'),
      metrics: new WaitingMetrics(metrics),
      mostBytes: config.waiting.allBytes,
    },
    redis:
      config.redis &&
      closing.use(await connectRedis({ ...config.redis, ...(logins.redis && { login: logins.redis }), log })),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The client takes 9 MB: processes without Redis do not load it. */
async function connectRedis(options: RedisOptions): Promise<Redis> {
  const redis = await import('@waybell/runtime/redis');
  return redis.connectRedis(options);
}
