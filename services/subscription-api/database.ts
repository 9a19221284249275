import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { DataSource, QueryFailedError } from 'typeorm';
import { addressesIn, placeOf } from '@waybell/runtime/addresses';
import { systemClock, withTimeout } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Login } from '@waybell/runtime/login';
import {
  applicationName,
  connectPostgres,
  isOutage,
  onConnection,
  sessionOf,
  type Queryable,
  postgresClient,
} from '@waybell/runtime/postgres';
import { MIGRATIONS } from '@waybell/runtime/reliance';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { Unavailable } from '@waybell/runtime/unavailable';
import { SET_ACTOR, type Actor } from './actor.ts';
import { migrations } from './migrations/in-order.ts';
import { Refusal } from './refusal.ts';
import { areRepeatablesApplied } from './repeatables.ts';
import { accountTable, subscriptionTable } from './tables.ts';

export type DatabaseOptions = ServerAddress & {
  role: string;
  poolSize: number;
  timeoutMs: number;
  login?: Login;
  log: Log;
};

export type SourceOptions = DatabaseOptions & {
  /** A statement fails after waiting this long for a lock; by default, after `timeoutMs`. */
  lockWaitMs?: number;
};

type OpenDatabaseOptions = DatabaseOptions & { checkEveryMs?: number };

export type Database = AsyncDisposable & {
  /** Empty once Postgres answers and every migration is applied. Checked repeatedly, so start order is free. */
  waitingFor(): string[];
  /** Runs one statement or transaction. Throws Unavailable while Postgres is away, or the tables are not there yet. */
  run<T>(work: (source: DataSource) => Promise<T>): Promise<T>;
  /** Queries the delivery log, by statements one after the other on one connection. Throws as `run` does. */
  askLog<T>(work: (postgres: Queryable) => Promise<T>): Promise<T>;
  /** Runs one transaction, whose changes the audit log ascribes to the actor. Throws as `run` does. */
  change<T>(actor: Actor, work: (postgres: Queryable) => Promise<T>): Promise<T>;
};

/** A server that hangs must not hold up the end of the process. */
const CLOSE_LIMIT = { clock: systemClock, limitMs: 1_000 };
const CHECK_EVERY_MS = 1_000;
/** Once all is there, it is checked more seldom: statements that fail show it by themselves. */
const READY_TIMES = 5;
/**
 * A new connection learns of every day's tables before its first answer from the delivery log: that takes ten times as long as
 * later ones. Longer than this some firewalls forget a connection that says nothing.
 */
const KEPT_IDLE_MS = 300_000;
/** For the tables of many days Postgres expects a statement to be expensive; compiling it would take longer than running it. */
const LOG_SETTINGS = { jit: 'off' };

/** The time limit of one connection attempt, however long statements may take. */
const LONGEST_CONNECT_MS = 10_000;

/** Describes the connections of the tables' owner, without connecting. Every connection attempt and statement has a limit. */
export function describeSource(options: SourceOptions): DataSource {
  const { role, poolSize, timeoutMs, lockWaitMs, login, log, ...server } = options;
  return new DataSource({
    type: 'postgres',
    // The client has the address, with all of its hosts.
    url: addressesIn(server.url)[0],
    schema: 'waybell',
    applicationName: 'waybell-subscription-api',
    entities: [accountTable, subscriptionTable],
    migrations,
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize,
    connectTimeoutMS: Math.min(timeoutMs, LONGEST_CONNECT_MS),
    extra: {
      Client: postgresClient(server, login),
      query_timeout: timeoutMs + 1_000,
      session: { ...sessionOf({ role, timeoutMs }), ...(lockWaitMs !== undefined && { lock_timeout: lockWaitMs }) },
      keepAlive: true,
    },
    poolErrorHandler: (error: Error) =>
      log.warn({ server: placeOf(server.url), reason: error.message }, 'postgres.connection-lost'),
  });
}

/**
 * Half of the connections are for the delivery log, so that a client with many queries to it keeps no other waiting. Each half has one at
 * least.
 */
function halvesOf(poolSize: number): { log: number; others: number } {
  const log = Math.max(1, Math.floor(poolSize / 2));
  return { log, others: Math.max(1, poolSize - log) };
}

/** Connects in the background, and checks whether Postgres is there and migrated, until it is disposed of. */
export function openDatabase({ checkEveryMs = CHECK_EVERY_MS, ...options }: OpenDatabaseOptions): Database {
  const connections = halvesOf(options.poolSize);
  const source = describeSource({ ...options, poolSize: connections.others });
  const deliveryLog = connectPostgres({
    ...options,
    poolSize: connections.log,
    keptIdleMs: KEPT_IDLE_MS,
    name: applicationName('subscription-api'),
    settings: LOG_SETTINGS,
  });
  const closing = new AbortController();
  let waitingFor = ['postgres'];
  let isMigrated = false;
  const watching = watch();

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      const found = await check(source);
      if (found.join() !== waitingFor.join()) options.log.info({ waitingFor: found }, 'database.looked-at');
      waitingFor = found;
      // While Postgres is away, nothing is known about its tables.
      isMigrated = found.length === 0 || (isMigrated && !found.includes(MIGRATIONS));
      await delay(found.length > 0 ? checkEveryMs : READY_TIMES * checkEveryMs, undefined, {
        signal: closing.signal,
      }).catch(() => {});
    }
  }

  async function run<T>(work: (source: DataSource) => Promise<T>): Promise<T> {
    const probe = () => source.query('select 1');
    if (!isMigrated) throw new Unavailable('postgres', probe);
    try {
      return await work(source);
    } catch (error) {
      if (error instanceof Refusal || !isDatabaseAway(error)) throw error;
      throw new Unavailable('postgres', probe, driverErrorOf(error));
    }
  }

  return {
    waitingFor: () => waitingFor,
    run,
    askLog: (work) => run(() => onConnection(deliveryLog, work)),
    change: (actor, work) => run((connected) => changeAs(connected, actor, work)),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await withTimeout(CLOSE_LIMIT, watching);
      await deliveryLog[Symbol.asyncDispose]();
      if (source.isInitialized) await withTimeout(CLOSE_LIMIT, source.destroy());
    },
  };
}

async function changeAs<T>(source: DataSource, actor: Actor, work: (postgres: Queryable) => Promise<T>): Promise<T> {
  const runner = source.createQueryRunner();
  try {
    await runner.startTransaction();
    // TypeORM connects with a client of pg.
    const client = (await runner.connect()) as pg.PoolClient;
    await client.query(SET_ACTOR, [JSON.stringify(actor)]);
    const result = await work(client);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    // A connection that was lost has rolled back already.
    await runner.rollbackTransaction().catch(() => {});
    throw error;
  } finally {
    await runner.release();
  }
}

/** Whether Postgres is away or cannot work now. */
export function isDatabaseAway(error: unknown): boolean {
  return isOutage(driverErrorOf(error));
}

const driverErrorOf = (error: unknown): unknown => (error instanceof QueryFailedError ? error.driverError : error);

async function check(source: DataSource): Promise<string[]> {
  try {
    if (!source.isInitialized) await source.initialize();
    return (await hasMigrations(source)) ? [] : [MIGRATIONS];
  } catch (error) {
    // Wrong credentials and the like can only be corrected outside: readiness shows the reason.
    return [`postgres (${error instanceof Error ? error.message || error.name : String(error)})`];
  }
}

async function hasMigrations(source: DataSource): Promise<boolean> {
  const query = <R>(sql: string) => source.query<R[]>(sql);
  const tables = await query<{ isThere: boolean }>(
    `select to_regclass(name) is not null as "isThere" from unnest(array['waybell.migrations', 'waybell.repeatables']) name`,
  );
  if (!tables.every(({ isThere }) => isThere)) return false;
  const applied = new Set(
    (await query<{ name: string }>('select name from waybell.migrations')).map(({ name }) => name),
  );
  return migrations.every((Migration) => applied.has(new Migration().name)) && (await areRepeatablesApplied(query));
}
