import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import { placeOf } from '@waybell/runtime/addresses';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type pg from 'pg';
import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';
import { isRefused } from '@waybell/runtime/postgres';
import { postgresClient } from '@waybell/runtime/postgres-client';
import { SCHEMA_VERSION } from '@waybell/runtime/reliance';
import { completeIndexes } from './complete-indexes.ts';
import { describeSource, isDatabaseAway } from './database.ts';
import { lastRelease } from './last-release.ts';
import { isBeyondNext, isLater } from './release-order.ts';
import { applyRepeatables, noteRelease, REPEATABLES } from './repeatables.ts';
import { tellProgress } from './tell-progress.ts';
import { LOCK_WAIT_MS, withLocks } from './with-locks.ts';
import manifest from './package.json' with { type: 'json' };

export type MigrateOptions = ServerAddress & {
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
 * Applies the missing migrations, and after them the repeatable ones that have changed, raises sequences that are behind their tables, and
 * returns the names of all of these. Each is a
 * transaction of its own, and gives up and begins again where a lock is not to be had at once: services run meanwhile. What was applied
 * before one fails stays. Several at once wait for each other. Where a later release has migrated already, nothing is done.
 * Throws where a version would be skipped.
 * Throws, saying what to do, where Postgres cannot be reached within `waitMs` (30 s), or refuses the user.
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
      inTransaction: (name, work) => tellProgress(log, name, () => withLocks(log, () => inTransaction(runner, work))),
    });
    await completeIndexes(query, {
      attach: (sql) => withLocks(log, () => query(sql)),
      tell: (name, work) => tellProgress(log, name, work),
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
    await tellProgress(log, migration.name, () =>
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
