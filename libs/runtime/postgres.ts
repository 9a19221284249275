/** Connections to Postgres that never wait for ever, transactions, the kinds of its errors, and copies of many rows. */
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import pg from 'pg';
import { placeOf } from './addresses.ts';
import { systemClock, withTimeout } from './clock.ts';
import type { Log } from './log.ts';
import type { Login } from './login.ts';
import { postgresClient, READ_TIMEOUT } from './postgres-client.ts';
import type { ServerAddress } from './server-address.ts';
import { Unavailable } from './unavailable.ts';

export type Postgres = pg.Pool & AsyncDisposable;

export type Queryable = Pick<pg.Pool, 'query'>;

type Connecting = Pick<pg.Pool, 'connect'>;

export type PostgresOptions = ServerAddress & {
  role: string;
  poolSize: number;
  timeoutMs: number;
  /** A connection without statements is closed after this long. */
  keptIdleMs?: number;
  /** Name of the connections in Postgres, unless the URL has one: see `applicationName`. */
  name?: string;
  /** Server settings of each of these connections, whatever the database's defaults. */
  settings?: Record<string, string>;
  /** Shared by all pools of the process. */
  login?: Login;
  log: Log;
};

/**
 * Settings of sessions whose statements find rows by their keys. Such a statement is planned once for a connection: planning it each
 * time took ten times as long as running it. It finds them by an index even while statistics say that the tables are empty, which
 * Postgres would remember in that plan.
 */
export const BY_KEY = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Longer than work that is repeated waits: a new connection costs each side a hundred times what a statement does. */
const KEPT_IDLE_MS = 60_000;
/** A server that hangs must not delay the end of the process. */
const CLOSE_LIMIT = { clock: systemClock, limitMs: 1_000 };

/**
 * Makes a pool that never waits for ever and never ends the process: connecting and each statement have a limit, and the loss of
 * an idle connection is only logged.
 */
export function connectPostgres(options: PostgresOptions): Postgres {
  const { url, role, poolSize, timeoutMs, keptIdleMs = KEPT_IDLE_MS, name, settings, log } = options;
  const pool = new pg.Pool({
    Client: postgresClient(options, options.login),
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs + 1_000,
    session: { ...sessionOf({ role, timeoutMs }), ...settings },
    keepAlive: true,
    idleTimeoutMillis: keptIdleMs,
    ...(name !== undefined && { application_name: name }),
  } as pg.PoolConfig);
  pool.on('error', (error) => log.warn({ server: placeOf(url), reason: error.message }, 'postgres.connection-lost'));
  return Object.assign(pool, { [Symbol.asyncDispose]: () => withTimeout(CLOSE_LIMIT, pool.end()) });
}

/** The settings of sessions with a role, if any, and a limit of statements. */
export const sessionOf = ({
  role,
  timeoutMs,
}: {
  role: string;
  timeoutMs: number;
}): Record<string, string | number> => ({
  statement_timeout: timeoutMs,
  idle_in_transaction_session_timeout: timeoutMs,
  ...(role === '' ? {} : { role }),
});

const instance = randomUUID().slice(0, 8);
const startedAt = new Date(performance.timeOrigin).toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Names this process to Postgres, such as `waybell-deliverer 3f9a1c2e 2026-11-27T19:05:28Z`: its service, eight digits that no
 * other process has, and its start. Shorter than the 63 bytes that Postgres keeps.
 */
export const applicationName = (service: string): string => `waybell-${service} ${instance} ${startedAt}`;

/** A POSIX expression for such names. */
export const APPLICATION_NAME = '^waybell-[a-z-]+ [0-9a-f]{8} [0-9-]{10}T[0-9:]{8}Z$';

/**
 * Runs statements on one connection. Closes it after an error, so that nobody else gets it: its transaction may be open, a
 * setting changed, a statement still under way.
 */
export async function onConnection<T>(postgres: Connecting, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await postgres.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Runs statements in a transaction, on one connection. Each statement sees what was committed before the statement began. */
export async function inTransaction<T>(postgres: Connecting, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return onConnection(postgres, async (client) => {
    await client.query('begin isolation level read committed');
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}

/**
 * Runs `query`. Throws `Unavailable` while Postgres is away, restarting, read-only, busy with others, short of disk or memory, or too slow, so
 * that the caller waits. Passes on errors of the statement itself, which would come back. `isAway` overrides which errors count as an
 * outage.
 */
export async function whenAvailable<T>(
  postgres: Queryable,
  query: () => Promise<T>,
  isAway: (error: unknown) => boolean = isOutage,
): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (!isAway(error)) throw error;
    const what = isShort(error)
      ? `postgres: lacks disk or memory for a statement (${(error as Error).message})`
      : 'postgres';
    throw new Unavailable(what, () => postgres.query('select 1'), error);
  }
}

// Classes 08 (connection), 40 (deadlock, serialization), 53 (resources), 57 (operator intervention, timeout), 25006
// (read-only after a failover) and 55P03 (the lock is held for too long).
const OUTAGE_SQLSTATE = /^(08|40|53|57)...$|^25006$|^55P03$/;

/** Whether the error says that Postgres cannot work now, and not that the statement is wrong. */
export function isOutage(error: unknown): boolean {
  // An error that the server did not send is the connection's: refused, reset, timed out, pool exhausted.
  const state = sqlStateOf(error);
  return state === undefined || OUTAGE_SQLSTATE.test(state) || isRefused(error);
}

/** Whether Postgres refuses the connection itself: for its password, while that changes, or for a user, role or database that is gone. */
export function isRefused(error: unknown): boolean {
  const state = sqlStateOf(error) ?? '';
  return (
    state.startsWith('28') || (/^(22023|3D000|42...)$/.test(state) && (error as pg.DatabaseError).severity === 'FATAL')
  );
}

const SHORT_SQLSTATE = /^53(?!300)...$/;

/** Whether Postgres, which is there, has not enough of something for this statement: a full disk, memory, shared memory. */
const isShort = (error: unknown): boolean => SHORT_SQLSTATE.test(sqlStateOf(error) ?? '');

const CANCELED_SQLSTATE = '57014';

/** Whether a statement was stopped because it exceeded `timeoutMs`. */
export function isTooSlow(error: unknown): boolean {
  return sqlStateOf(error) === CANCELED_SQLSTATE || (error instanceof Error && error.message === READ_TIMEOUT);
}

// A deadlock, a serialization failure, a lock that is held, no connection, disk or memory left.
const BUSY_SQLSTATE = /^(40|53)...$|^55P03$/;
/** The pool's error when all of its connections are in use. */
const NONE_FREE = 'timeout exceeded when trying to connect';

/** Whether Postgres, though reachable, did not get to a statement in time, or had not enough for it. */
export function isBusy(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return state === CANCELED_SQLSTATE || BUSY_SQLSTATE.test(state);
  return isTooSlow(error) || (error instanceof Error && error.message === NONE_FREE);
}

/** Returns the server's SQLSTATE, five characters; undefined if the error did not come from the server. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : undefined;
}

// Unique violation; and deadlock, where two write the same rows in different order.
const CONFLICT_SQLSTATE = /^(23505|40P01)$/;

/** Whether the error says that a row exists already, or that another process is writing it. */
export function isConflict(error: unknown): boolean {
  return CONFLICT_SQLSTATE.test(sqlStateOf(error) ?? '');
}

/** A statement `copy … from stdin`, with rows in the text format, in pieces. */
export type Copy = { text: string; data: readonly Buffer[] };

/** Runs all copies in one transaction. Throws the error of Postgres, also if a row exists already. */
export async function copyAll(postgres: Connecting, copies: readonly Copy[]): Promise<void> {
  await onConnection(
    postgres,
    (client) =>
      new Promise<void>((resolve, reject) => {
        client.query(new CopyQuery(copies, (error) => (error ? reject(error) : resolve())));
      }),
  );
}

/** All copies as one query, which is one transaction. Postgres requests the rows of one after the other. */
class CopyQuery extends pg.Query {
  readonly #data: Iterator<readonly Buffer[]>;

  constructor(copies: readonly Copy[], done: (error: Error | undefined) => void) {
    super(copies.map(({ text }) => text).join(';\n'), done);
    this.#data = copies.map(({ data }) => data).values();
  }

  /** Called by the client, whose own implementation would answer that there is nothing to copy. */
  handleCopyInResponse(connection: CopyConnection): void {
    for (const piece of this.#data.next().value ?? []) sendCopyData(connection.stream, piece);
    connection.endCopyFrom();
  }
}

/** Missing in the client's types. */
type CopyConnection = { stream: Writable; endCopyFrom(): void };

/** Does the same as the client's `sendCopyFromChunk`, which would copy the bytes: garbage that V8 counts against all memory. */
function sendCopyData(stream: Writable, bytes: Buffer): void {
  if (!stream.writable) return;
  const head = Buffer.from('d\0\0\0\0', 'latin1');
  head.writeInt32BE(4 + bytes.length, 1);
  stream.cork();
  stream.write(head);
  stream.write(bytes);
  stream.uncork();
}
