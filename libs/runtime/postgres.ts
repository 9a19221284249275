import pg from 'pg';
import type { Log } from './log.ts';
import { Unavailable } from './unavailable.ts';

export type Postgres = pg.Pool & AsyncDisposable;

export type PostgresOptions = { url: string; role: string; poolSize: number; timeoutMs: number; log: Log };

/**
 * A pool that never waits for ever and never ends the process: connecting and each statement have a limit, and the
 * loss of an idle connection is a log line.
 */
export function connectPostgres({ url, role, poolSize, timeoutMs, log }: PostgresOptions): Postgres {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs + 1_000,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: timeoutMs,
    keepAlive: true,
    ...(role === '' ? {} : { options: `-c role=${role}` }),
  });
  pool.on('error', (error) => log.warn({ reason: error.message }, 'postgres.connection-lost'));
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

/**
 * Runs `query` and says `Unavailable` where Postgres is away, restarting, read-only or too slow, so that the caller
 * waits for it. Errors that the statement itself causes pass through: they would come back.
 */
export async function whenAvailable<T>(postgres: Postgres, query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new Unavailable('postgres', () => postgres.query('select 1'), error);
  }
}

// Classes 08 (connection), 53 (resources), 57 (operator intervention, timeout) and 25006 (read-only after a failover).
const OUTAGE_SQLSTATE = /^(08|53|57)...$|^25006$/;

/** Whether the error says that Postgres is away or cannot work now, rather than that the statement is wrong. */
export function isOutage(error: unknown): boolean {
  // Whatever is not an answer of the server is the connection's: refused, reset, timed out, pool exhausted.
  return !(error instanceof pg.DatabaseError) || OUTAGE_SQLSTATE.test(error.code ?? '');
}
