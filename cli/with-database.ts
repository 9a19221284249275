import pg from 'pg';
import { addressOf } from './stack/address-of.ts';

const CONNECT_LIMIT_MS = 10_000;
const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA = '3F000';

/** Runs `work` on the tables of DATABASE_URL or of the running stack. What Postgres refuses is said with what to do. */
export async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (postgres: pg.Pool) => Promise<T>): Promise<T> {
  const url = addressOf('DATABASE_URL', env);
  const postgres = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_LIMIT_MS });
  // The statement that fails reports it; without a listener a lost idle connection would end the process as well.
  postgres.on('error', () => undefined);
  try {
    return await work(postgres);
  } catch (error) {
    throw explained(error, url);
  } finally {
    await postgres.end();
  }
}

function explained(error: unknown, url: string): unknown {
  if (error instanceof pg.DatabaseError) {
    if (error.code !== UNDEFINED_TABLE && error.code !== INVALID_SCHEMA) return error;
    return new Error(`the tables are not in the database of ${placeOf(url)}: create them with "./waybell migrate"`);
  }
  const isUnreachable = error instanceof Error && ('code' in error || /timeout|terminated/i.test(error.message));
  if (!isUnreachable) return error;
  const why = error.message || ('code' in error ? String(error.code) : 'no answer');
  return new Error(
    `Postgres at ${placeOf(url)} cannot be reached (${why}): check DATABASE_URL, or see ./waybell status`,
  );
}

/** Host and port alone: an address holds a password. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'DATABASE_URL';
}
