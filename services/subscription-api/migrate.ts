/**
 * Brings the tables to this release, while services of the release before run. In this order, each a transaction of its own:
 *
 * 1. the numbered migrations that are missing;
 * 2. the repeatable ones that have changed;
 * 3. indexes on partitions of the delivery log, which their tables have already;
 * 4. sequences that are behind their tables.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { MigrationExecutor, QueryFailedError, type DataSource, type QueryRunner } from 'typeorm';
import { placeOf } from '@waybell/runtime/addresses';
import type { Log } from '@waybell/runtime/log';
import { isRefused, sqlStateOf, postgresClient } from '@waybell/runtime/postgres';
import { SCHEMA_VERSION } from '@waybell/runtime/reliance';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { describeSource, isDatabaseAway } from './database.ts';
import { lastRelease, type SqlQuery } from './last-release.ts';
import { createIndex } from './migrations/create-index.ts';
import manifest from './package.json' with { type: 'json' };
import { applyRepeatables, noteRelease, REPEATABLES } from './repeatables.ts';

type MigrateOptions = ServerAddress & {
  log: Log;
  /** This one's, such as 0.2.0. */
  release?: string;
  /** How long to wait for Postgres to come up, and for another migration to end. */
  waitMs?: number;
};

// Any number does, as long as it never changes.
const LOCK = 2_312_502_051;
const RETRY_MS = 250;
// Creating an index over many rows takes long; what hangs for ever still ends.
const STATEMENT_TIMEOUT_MS = 3_600_000;

/**
 * Applies what is missing, and returns the names of it. A step that cannot have a lock at once begins again, as services run meanwhile.
 * What was applied before one fails stays. Several migrations at once wait for each other. Where a later release has migrated already,
 * nothing is done. Throws if a version would be skipped; and, saying what to do, if Postgres cannot be reached within `waitMs` (30 s) or
 * refuses the user.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { log, release = manifest.version, waitMs = 30_000, ...address } = options;
  const until = Date.now() + waitMs;
  const connection = await connect(address, log, until);
  try {
    await lock(connection, log, until);
    await connection.query(`create schema if not exists waybell; ${REPEATABLES}`);
    const query = async <R>(sql: string, values?: unknown[]): Promise<R[]> =>
      (await connection.query(sql, values)).rows;
    const last = (await lastRelease(query)) ?? release;
    if (isLater(last, release)) {
      log.warn({ release, later: last }, 'migration.later-release');
      return [];
    }
    if (isBeyondNext(release, last)) throw new Error(skipping(release, last));
    const applied = await applyMissing(address, log);
    await noteRelease(query, release);
    return applied;
  } finally {
    await connection.end();
  }
}

const skipping = (release: string, last: string): string =>
  `the tables are those of ${last}: upgrade to each version between it and ${release} in turn (docs/operating/upgrading.md), ` +
  'as each reads only what the one before it wrote';

async function applyMissing(address: ServerAddress, log: Log): Promise<string[]> {
  const limits = { timeoutMs: STATEMENT_TIMEOUT_MS, lockWaitMs: LOCK_WAIT_MS };
  const source = describeSource({ ...address, ...limits, role: '', poolSize: 2, log });
  await source.initialize();
  const runner = source.createQueryRunner();
  const query = <R>(sql: string, values?: unknown[]): Promise<R[]> => runner.query(sql, values);
  try {
    const numbered = await applyNumbered(source, runner, log);
    const repeated = await applyRepeatables(query, {
      haveTablesChanged: numbered.length > 0,
      schemaVersion: SCHEMA_VERSION,
      inTransaction: (name, work) => reportProgress(log, name, () => withLocks(log, () => inTransaction(runner, work))),
    });
    await completeIndexes(query, {
      attach: (sql) => withLocks(log, () => query(sql)),
      report: (name, work) => reportProgress(log, name, work),
    });
    const [row] = await query<{ raised: string[] }>('select waybell.raise_sequences(true) as raised');
    const raised = (row?.raised ?? []).map((sequence) => `${sequence}, which was behind its table`);
    return [...numbered, ...repeated, ...raised];
  } finally {
    await runner.release();
    await source.destroy();
  }
}

async function applyNumbered(source: DataSource, runner: QueryRunner, log: Log): Promise<string[]> {
  const executor = new MigrationExecutor(source, runner);
  const pending = await executor.getPendingMigrations();
  for (const migration of pending) {
    const execute = async () => void (await executor.executeMigration(migration));
    const isAlone = migration.instance?.transaction === false;
    await reportProgress(log, migration.name, () =>
      withLocks(log, () => (isAlone ? execute() : inTransaction(runner, execute))),
    );
  }
  return pending.map(({ name }) => name);
}

async function inTransaction(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await runner.startTransaction();
  try {
    await work();
    await runner.commitTransaction();
  } catch (error) {
    // A connection that was lost has rolled back already.
    await runner.rollbackTransaction().catch(() => {});
    throw error;
  }
}

async function connect(address: ServerAddress, log: Log, until: number): Promise<pg.Client> {
  const Client = postgresClient(address);
  for (let isFirst = true; ; isFirst = false) {
    const client = new Client({ connectionTimeoutMillis: 5_000 });
    client.on('error', (error) => log.warn({ reason: error.message }, 'postgres.connection-lost'));
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (!isDatabaseAway(error) || isRefused(error) || Date.now() >= until) throw error;
      if (isFirst)
        log.info(
          { waitingFor: placeOf(address.url), reason: error instanceof Error ? error.message : error },
          'migration.waiting',
        );
    }
    await delay(RETRY_MS);
  }
}

async function lock(connection: pg.Client, log: Log, until: number): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await connection.query<{ isOurs: boolean }>('select pg_try_advisory_lock($1) as "isOurs"', [LOCK]);
    if (rows[0]?.isOurs === true) return;
    if (Date.now() >= until) throw new Error('another migration is still running; see who holds the advisory lock');
    if (isFirst) log.info({ waitingFor: 'another migration' }, 'migration.waiting');
    await delay(RETRY_MS);
  }
}

/** How long a statement waits for a lock: all that comes after it waits too, so no service waits longer. */
const LOCK_WAIT_MS = 500;
/** Within this time all long reads have ended; a transaction that somebody forgot has not. */
const LIMIT_MS = 300_000;
const PAUSES_MS = { least: 200, most: 2_000 };
const NO_LOCK = new Set(['55P03', '40P01']);

/** Repeats work while it cannot have its locks at once. Work that fails must leave nothing behind. */
export async function withLocks<T>(log: Pick<Log, 'info'>, work: () => Promise<T>): Promise<T> {
  const until = Date.now() + LIMIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work();
    } catch (error) {
      const cause = error instanceof QueryFailedError ? error.driverError : error;
      if (!NO_LOCK.has(sqlStateOf(cause) ?? '')) throw error;
      if (Date.now() >= until) {
        const message =
          'a lock could not be had: a transaction has been open for minutes (see pg_stat_activity); what was applied stays';
        throw new Error(message, { cause: error });
      }
      if (isFirst) log.info({ waitingFor: 'locks', reason: cause.message }, 'migration.waiting');
    }
    await delay(PAUSES_MS.least + Math.random() * (PAUSES_MS.most - PAUSES_MS.least));
  }
}

const EVERY_MS = 30_000;

/** Runs work that may take long, and logs that it has begun, from time to time that it runs, and that it is done. */
export async function reportProgress<T>(
  log: Pick<Log, 'info'>,
  name: string,
  work: () => Promise<T>,
  everyMs = EVERY_MS,
): Promise<T> {
  const beganAt = performance.now();
  const seconds = () => Math.round((performance.now() - beganAt) / 1_000);
  log.info({ name }, 'migration.begun');
  const reporting = setInterval(() => log.info({ name, seconds: seconds() }, 'migration.running'), everyMs);
  try {
    const result = await work();
    log.info({ name, seconds: seconds() }, 'migration.applied');
    return result;
  } finally {
    clearInterval(reporting);
  }
}

type Missing = { parent: string; partition: string; isUnique: boolean; columns: string };

type CompleteOptions = {
  attach: (sql: string) => Promise<unknown>;
  /** Reports work that may take long, and runs it. */
  report: (name: string, work: () => Promise<void>) => Promise<void>;
};

/** Partitions of the log that lack an index of their table; the definition of an index has its columns after `USING`. */
const MISSING = `
select i.indexrelid::regclass::text as parent, p.inhrelid::regclass::text as partition, i.indisunique as "isUnique",
  substring(pg_get_indexdef(i.indexrelid) from ' (USING .*)$') as columns
from pg_index i join pg_class t on t.oid = i.indrelid and t.relkind = 'p' join pg_inherits p on p.inhparent = t.oid
where t.relnamespace = to_regnamespace('delivery_log') and not p.inhdetachpending and not exists (
  select from pg_inherits c join pg_index own on own.indexrelid = c.inhrelid
  where c.inhparent = i.indexrelid and own.indrelid = p.inhrelid)
order by 2, 1`;

/**
 * Creates a new index of a table of days on the table alone, which locks nothing, and here on each existing day, while everything
 * goes on. Not in a transaction. An index that was left half-built is completed the next time.
 */
async function completeIndexes(query: SqlQuery, { attach, report }: CompleteOptions): Promise<void> {
  for (const { parent, partition, isUnique, columns } of await query<Missing>(MISSING)) {
    const name = `${partition}_of_${parent.replace(/^.*\./, '')}`;
    await report(name, () => createIndex(query, { name, table: partition, columns, isUnique }));
    await attach(`alter index ${parent} attach partition ${name}`);
  }
}

/** Whether a release, such as 0.10.0, comes after the other. */
export function isLater(release: string, than: string): boolean {
  const [ours, theirs] = [partsOf(than), partsOf(release)];
  const differing = theirs.findIndex((part, place) => part !== ours[place]);
  return differing !== -1 && (theirs[differing] ?? 0) > (ours[differing] ?? 0);
}

/**
 * Whether a version lies between them: a release runs beside the previous version, and reads only that one's formats, none older.
 */
export function isBeyondNext(release: string, from: string): boolean {
  const [[major = 0, minor = 0], [fromMajor = 0, fromMinor = 0]] = [partsOf(release), partsOf(from)];
  return major === fromMajor ? minor > fromMinor + 1 : major > fromMajor + 1 || (major > fromMajor && minor > 0);
}

const partsOf = (release: string): number[] => release.split('.').map(Number);
