import { hostname, userInfo } from 'node:os';
import pg from 'pg';
import type { Actor } from '@waybell/subscription-api/actor';
import { placeOf } from '@waybell/runtime/server-address';
import { databaseOf } from '@waybell/stack/address-of';

const CONNECT_LIMIT_MS = 10_000;
const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA = '3F000';

/** Runs `work` on the tables of DATABASE_URL or of the running stack. What Postgres refuses is said with what to do. */
export async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (postgres: pg.Pool) => Promise<T>): Promise<T> {
  const { url, tls } = databaseOf(env);
  const postgres = new pg.Pool({
    connectionString: url,
    ssl: tls ?? false,
    max: 1,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    // One connection from beginning to end: what it is told at first holds to the last.
    idleTimeoutMillis: 0,
  });
  // The statement that fails reports it; without a listener a lost idle connection would end the process as well.
  postgres.on('error', () => undefined);
  try {
    await postgres.query(SET_ACTOR_OF_SESSION, [JSON.stringify(thisCommand())]);
    return await work(postgres);
  } catch (error) {
    throw explained(error, placeOf(url) ?? 'DATABASE_URL');
  } finally {
    await postgres.end();
  }
}

// The audit log names it for what this changes.
const SET_ACTOR_OF_SESSION = `select set_config('waybell.actor', $1, false)`;

function thisCommand(): Actor {
  return { who: 'command line', origin: `${userInfo().username}@${hostname()}`, requestId: null };
}

function explained(error: unknown, place: string): unknown {
  if (error instanceof pg.DatabaseError) {
    if (error.code !== UNDEFINED_TABLE && error.code !== INVALID_SCHEMA) return error;
    return new Error(`the tables are not in the database of ${place}: create them with "./waybell migrate"`);
  }
  const isUnreachable = error instanceof Error && ('code' in error || /timeout|terminated/i.test(error.message));
  if (!isUnreachable) return error;
  const why = error.message || ('code' in error ? String(error.code) : 'no answer');
  return new Error(`Postgres at ${place} cannot be reached (${why}): check DATABASE_URL, or see ./waybell status`);
}
