/** The common parts of the line's services; each begins with `startService`. */
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
import type { ClaimedRows } from './outbox/claimed-rows.ts';
import { Outbox } from './outbox/outbox.ts';
import { outboxIn } from './outbox/postgres-outbox.ts';
import { publishClaimed, type PublishingClaimed, publishRepeatedly } from './outbox/publish-claimed.ts';
import { watchPublishing } from './line-metrics.ts';
import { exchangesOf, queuesOf, type RetrySettings, type ServiceName } from './line-topology.ts';
import { type Once, onceInRedis } from './once.ts';
import { type RunningStep, runStep, type Step, type StepTools } from './run-step.ts';
import { WAITING_SETTINGS } from './waiting-room/postgres-waiting-store.ts';
import type { WaitingPostgres } from './waiting-room/waiting-connection.ts';
import { WaitingMetrics } from './waiting-room/waiting-metrics.ts';
import type { readWaiting } from './waiting-room/waiting-store.ts';

/** With `redis` a service connects to Redis; with `waiting` it has an outbox in Postgres for what RabbitMQ does not take. */
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
  /** `postgres`: connections for what waits. */
  waiting: C extends { waiting: object } ? { postgres: WaitingPostgres; metrics: WaitingMetrics } : undefined;
  /** Runs a step and adds it to the process's readiness. `tools` add to the service's own. */
  run<M>(step: Step<M>, tools?: Partial<StepTools<M>>): RunningStep;
  publishClaimed<Row>(name: string, rows: ClaimedRows<Row>): PublishingClaimed;
  /** Publishes due rows again and again. */
  publishRepeatedly<Row>(name: string, rows: ClaimedRows<Row>, how: Repetition): AsyncDisposable;
  /** Resolves when the process is asked to stop. */
  untilStopped(): Promise<void>;
};

export type Repetition = { intervalMs: number; warning: string };

/** Connections to Postgres for what waits; idle ones are closed. */
const WAITING_CONNECTIONS = 4;

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
  const tools = { broker, ...parts };
  const asStep = <Row>(rows: ClaimedRows<Row>) => publishClaimed('outbox', rows, tools);
  const outbox = waiting && opened.use(new Outbox({ ...waiting, asStep, broker, log, clock: systemClock }));
  const puts = outbox && { putPublication: outbox.put };
  let once: Once | undefined;

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
  const waiting = config.waiting && connect({ poolSize: WAITING_CONNECTIONS, settings: WAITING_SETTINGS });
  return {
    // A service for which something waits queries receivers by key.
    postgres: connect(config.waiting && { settings: BY_KEY }),
    waiting: config.waiting &&
      waiting && {
        postgres: waiting,
        store: outboxIn(waiting, name === 'deliverer' ? 'deliverer' : 'router'),
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
