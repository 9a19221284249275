import { hostname, userInfo } from 'node:os';
import pg from 'pg';
import { placeOf } from '@waybell/runtime/addresses';
import { postgresClient } from '@waybell/runtime/postgres';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { troubleWith, type AskedServer } from '@waybell/runtime/server-trouble';
import { Unavailable } from '@waybell/runtime/unavailable';
import { databaseOf } from '@waybell/stack/address-of';
import type { Actor } from '@waybell/subscription-api/actor';

const CONNECT_LIMIT_MS = 10_000;
// Undefined table, invalid schema.
const MISSING_TABLES = /^(42P01|3F000)$/;
// While Postgres stops.
const STOPPING = /^57P0.$/;

/** Runs `work` on the tables of DATABASE_URL or of the running stack. What Postgres refuses is said with what to do. */
export async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (postgres: pg.Pool) => Promise<T>): Promise<T> {
  return onDatabase(databaseOf(env), work);
}

/** Runs `work` on the tables there. What Postgres refuses is said with what to do. */
export async function onDatabase<T>(server: ServerAddress, work: (postgres: pg.Pool) => Promise<T>): Promise<T> {
  const postgres = new pg.Pool({
    Client: postgresClient(server),
    max: 1,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    // One connection from beginning to end: its session settings hold until then.
    idleTimeoutMillis: 0,
  });
  // The statement that fails reports it; without a listener a lost idle connection would end the process as well.
  postgres.on('error', () => undefined);
  try {
    await postgres.query(SET_SESSION, [JSON.stringify(thisCommand())]);
    return await work(postgres);
  } catch (error) {
    throw explain(error instanceof Unavailable ? error.cause : error, { ...server, server: 'Postgres' });
  } finally {
    await postgres.end();
  }
}

// The audit log names the actor for what this changes. To compile what reads little of large tables takes longer than to read that.
const SET_SESSION = `select set_config('waybell.actor', $1, false), set_config('jit', 'off', false)`;

function thisCommand(): Actor {
  return { who: 'command line', origin: `${callerName()}@${hostname()}`, requestId: null };
}

function explain(error: unknown, server: AskedServer): unknown {
  if (error instanceof pg.DatabaseError && MISSING_TABLES.test(error.code ?? ''))
    return new Error(
      `the tables are not in the database of ${placeOf(server.url)}: create them with "./waybell migrate"`,
    );
  // One that could not be connected says so already.
  const isSaid = error instanceof Error && error.message.startsWith('Postgres at ');
  const isAnswer = error instanceof pg.DatabaseError && !STOPPING.test(error.code ?? '');
  const isOfServer = error instanceof Error && ('code' in error || /timeout|terminated|left/i.test(error.message));
  return isSaid || isAnswer || !isOfServer ? error : new Error(troubleWith(server, error), { cause: error });
}

/** In a container a user may have no name: then the number. */
function callerName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
