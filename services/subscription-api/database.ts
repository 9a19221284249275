import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import { isOutage } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import { DataSource, QueryFailedError } from 'typeorm';
import { migrations } from './migrations/in-order.ts';
import { accessTokenTable } from './tables/access-token.ts';
import { accountTable } from './tables/account.ts';
import { subscriptionTable } from './tables/subscription.ts';

export type DatabaseOptions = { url: string; role: string; poolSize: number; timeoutMs: number; log: Log };

export type Database = AsyncDisposable & {
  /** Empty once Postgres answers and every migration is there. Looked at every second, so start order is free. */
  waitingFor(): string[];
  /** Runs one statement or transaction. Throws Unavailable while Postgres is away, or the tables are not there yet. */
  run<T>(work: (source: DataSource) => Promise<T>): Promise<T>;
};

const LOOK_EVERY_MS = 1_000;
const MIGRATIONS = 'migrations (run `waybell migrate`)';

/** The tables' owner's way to Postgres, not connected yet. Every connection attempt and statement has a limit. */
export function describeSource({ url, role, poolSize, timeoutMs, log }: DatabaseOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    schema: 'waybell',
    applicationName: 'waybell-subscription-api',
    entities: [accountTable, accessTokenTable, subscriptionTable],
    migrations,
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize,
    connectTimeoutMS: timeoutMs,
    extra: {
      query_timeout: timeoutMs + 1_000,
      statement_timeout: timeoutMs,
      idle_in_transaction_session_timeout: timeoutMs,
      keepAlive: true,
      ...(role === '' ? {} : { options: `-c role=${role}` }),
    },
    poolErrorHandler: (error: Error) => log.warn({ reason: error.message }, 'postgres.connection-lost'),
  });
}

/** Connects in the background and keeps looking whether Postgres is there and migrated, until it is disposed of. */
export function openDatabase(options: DatabaseOptions): Database {
  const source = describeSource(options);
  const closing = new AbortController();
  let waitingFor = ['postgres'];
  const watching = watch();

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      const found = await lookAt(source);
      if (found.join() !== waitingFor.join()) options.log.info({ waitingFor: found }, 'database.looked-at');
      waitingFor = found;
      await delay(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  return {
    waitingFor: () => waitingFor,
    async run(work) {
      const probe = () => source.query('select 1');
      if (!source.isInitialized || waitingFor.includes(MIGRATIONS)) throw new Unavailable('postgres', probe);
      try {
        return await work(source);
      } catch (error) {
        if (!isAway(error)) throw error;
        throw new Unavailable('postgres', probe, error);
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await watching;
      if (source.isInitialized) await source.destroy();
    },
  };
}

/** Whether Postgres is away or cannot work now. */
export function isAway(error: unknown): boolean {
  return isOutage(error instanceof QueryFailedError ? error.driverError : error);
}

async function lookAt(source: DataSource): Promise<string[]> {
  try {
    if (!source.isInitialized) await source.initialize();
    const applied = await appliedMigrations(source);
    return migrations.every((Migration) => applied.includes(new Migration().name)) ? [] : [MIGRATIONS];
  } catch (error) {
    // Wrong credentials and the like also heal only from outside; the reason is said where one looks for it.
    return [`postgres (${error instanceof Error ? error.message || error.name : String(error)})`];
  }
}

async function appliedMigrations(source: DataSource): Promise<string[]> {
  const [table] = await source.query<{ isThere: boolean }[]>(
    `select to_regclass('waybell.migrations') is not null as "isThere"`,
  );
  if (table?.isThere !== true) return [];
  const rows = await source.query<{ name: string }[]>('select name from waybell.migrations');
  return rows.map(({ name }) => name);
}
