import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import { placeOf, type ServerAddress } from '@waybell/runtime/server-address';
import { troubleWith } from '@waybell/runtime/server-trouble';
import pg from 'pg';
import { MigrationExecutor } from 'typeorm';
import { describeSource, isAway } from './database.ts';
import { applyRepeatables } from './repeatables.ts';

export type MigrateOptions = ServerAddress & {
  log: Log;
  /** How long to wait for Postgres to come up, and for another migration to end. */
  waitMs?: number;
};

// Any number does, as long as it never changes.
const LOCK = 2_312_502_051;
const RETRY_MS = 250;
// Creating an index over many rows takes long; what hangs for ever still ends.
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Applies the missing migrations, and after them the repeatable ones that have changed, in one transaction, and returns their
 * names. Several at once wait for each other.
 * Throws, saying what to do, where Postgres cannot be reached within `waitMs` (30 s), or refuses the user.
 */
export async function migrate({ log, waitMs = 30_000, ...address }: MigrateOptions): Promise<string[]> {
  const until = Date.now() + waitMs;
  const connection = await connect(address, log, until);
  try {
    await lock(connection, log, until);
    await connection.query('create schema if not exists waybell');
    return await applyMissing(address, log);
  } finally {
    await connection.end();
  }
}

async function applyMissing(address: ServerAddress, log: Log): Promise<string[]> {
  const source = describeSource({ ...address, role: '', poolSize: 2, timeoutMs: STATEMENT_TIMEOUT_MS, log });
  await source.initialize();
  const runner = source.createQueryRunner();
  try {
    await runner.startTransaction();
    // It joins a transaction that is open.
    const numbered = await new MigrationExecutor(source, runner).executePendingMigrations();
    const repeated = await applyRepeatables((sql, values) => runner.query(sql, values), {
      haveTablesChanged: numbered.length > 0,
    });
    await runner.commitTransaction();
    const applied = [...numbered.map(({ name }) => name), ...repeated];
    for (const name of applied) log.info({ name }, 'migration.applied');
    return applied;
  } catch (error) {
    // A connection that was lost has rolled back already.
    await runner.rollbackTransaction().catch(() => {});
    throw error;
  } finally {
    await runner.release();
    await source.destroy();
  }
}

async function connect({ url, tls, isOfStack }: ServerAddress, log: Log, until: number): Promise<pg.Client> {
  for (let isFirst = true; ; isFirst = false) {
    const client = new pg.Client({ connectionString: url, ssl: tls ?? false, connectionTimeoutMillis: 5_000 });
    client.on('error', (error) => log.warn({ reason: error.message }, 'postgres.connection-lost'));
    try {
      await client.connect();
      return client;
    } catch (error) {
      const reason = troubleWith({ server: 'Postgres', url, isOfStack }, error);
      await client.end().catch(() => {});
      if (!isAway(error) || Date.now() >= until) throw new Error(reason, { cause: error });
      if (isFirst) log.info({ waitingFor: placeOf(url), reason }, 'migration.waiting');
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
