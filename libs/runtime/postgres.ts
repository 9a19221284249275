/** Connections to Postgres that never wait for ever, transactions, the kinds of its errors, and copies of many rows. */
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import pg from 'pg';
import { placeOf, addressesIn } from './addresses.ts';
import { systemClock, withTimeout } from './clock.ts';
import type { Log } from './log.ts';
import { Login } from './login.ts';
import type { ServerAddress } from './server-address.ts';
import { Unavailable } from './unavailable.ts';
import { types } from 'node:util';
import { findWritable, leadTo, requireWrites, type HostAddress } from './writable-host.ts';

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

/** The error of the client's own limit, which is longer than the server's: the server would have answered. */
const READ_TIMEOUT = 'Query read timeout';
const READ_ONLY_SQLSTATE = '25006';
/** Parameters that Postgres 14 and newer report with the next answer after they have changed, also to reads. */
const READ_ONLY_PARAMETERS = new Set(['default_transaction_read_only', 'in_hot_standby']);
const DEFAULT_LIMIT_MS = 5_000;

/**
 * The settings that every session has, whatever the server, the database or the user have as their defaults: how values are
 * written and read, which names mean what, and that only a limit of ours ends a statement or a connection.
 */
const RELIED_ON = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  search_path: 'pg_catalog, pg_temp',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  row_security: 'on',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
};

/** A statement, not parameters of the connect, where poolers refuse those that they do not know. Older servers lack some settings. */
const SET_SESSION = `select pg_backend_pid() as pid, array(
  select set_config(name, value, false) from unnest($1::text[], $2::text[]) given(name, value)
  where strpos(name, '.') > 0 or current_setting(name, true) is not null) as set`;

/** A configuration of a client with settings of its sessions. */
type SessionConfig = pg.ClientConfig & { session?: Record<string, string | number> };

/** After it was found to keep sessions, a pooler is not checked again for this long. */
const KEPT_MS = 300_000;

/** The callback that the pool and TypeORM pass. */
type Connected = (error: Error | null, client?: pg.Client) => void;
type Parameter = { parameterName: string; parameterValue: string };
type QueryCallback = (error: unknown, result: unknown) => void;

/**
 * Makes clients of that address for one pool. If the address names several hosts, or requires one that accepts writes, each client
 * connects to one that does. All clients leave a server that turns read-only or does not answer at all. Their sessions
 * have the settings relied on, and the configuration's `session`. Connection errors name the server, its setting, and what to do.
 */
export function postgresClient(server: ServerAddress, login = new Login('Postgres', server)): typeof pg.Client {
  let find = findWritable(server);
  let found = server;
  const open = new Set<pg.Client>();
  const pooler: KnownPooler = { keptUntil: -Infinity };
  const { onParameter, onError, watched } = leaving(open);

  return class extends pg.Client {
    readonly #limitMs: number;
    readonly #config: SessionConfig;
    readonly #address: ServerAddress;

    constructor(config: SessionConfig = {}) {
      const address = login.address();
      const { url, tls } = address;
      // Always states TLS: otherwise PGSSLMODE would decide, which can disable all checks.
      const full = { ...config, connectionString: addressesIn(url)[0], ssl: tls ?? false, types: { getTypeParser } };
      super(full);
      this.#config = full;
      this.#address = address;
      this.#limitMs = config.connectionTimeoutMillis ?? DEFAULT_LIMIT_MS;
      // The client's user learns of the loss by a query; an error event without a listener would end the process.
      this.on('error', () => undefined);
      this.on('end', () => open.delete(this));
    }

    override connect(): Promise<pg.Client>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<pg.Client> | void {
      const connecting = this.#connect();
      if (connected === undefined) return connecting;
      connecting.then(() => connected(null, this), connected);
    }

    // A query has many forms: some end with a callback, some begin with a query that has one, others return a promise.
    override query(...args: unknown[]): never {
      const [query, answered] = [args[0], args.at(-1)];
      if (typeof answered === 'function') args[args.length - 1] = watched(answered as QueryCallback);
      else if (hasCallback(query)) query.callback = watched(query.callback);
      const result: unknown = Reflect.apply(super.query, this, args);
      if (result instanceof Promise) result.catch(onError);
      return result as never;
    }

    async #connect(): Promise<pg.Client> {
      const address = this.#address;
      try {
        login.requireDue();
        if (address !== found) [find, found] = [findWritable(address), address];
        const place = await find(this.#limitMs);
        if (place !== undefined) leadTo(place, this);
        await super.connect();
        open.add(this);
        await setSession(this, this.#config, { place, pooler });
        if (place !== undefined) {
          await requireWrites(this);
          this.connection.on('parameterStatus', onParameter);
        }
        login.succeeded(address);
        return this;
      } catch (error) {
        this.connection.stream.destroy();
        // A setting of the session that is refused refuses the connection, in whatever language.
        if (error instanceof pg.DatabaseError) error.severity = 'FATAL';
        throw login.failed(address, error);
      }
    }
  };
}

/** Has all clients leave a server that turns read-only or does not answer. */
function leaving(open: ReadonlySet<pg.Client>) {
  function leave(reason: string): void {
    for (const client of open) client.connection.stream.destroy(new Error(`left: ${reason}`));
  }

  function onError(error: unknown): void {
    if (!types.isNativeError(error)) return;
    if (error.message === READ_TIMEOUT) leave('it does not answer');
    if (error instanceof pg.DatabaseError && error.code === READ_ONLY_SQLSTATE) leave('it takes no writes');
  }

  function onParameter({ parameterName, parameterValue }: Parameter): void {
    if (READ_ONLY_PARAMETERS.has(parameterName) && parameterValue === 'on') leave('it takes no writes');
  }

  const watched =
    (answered: QueryCallback): QueryCallback =>
    (error, result) => {
      onError(error);
      answered(error, result);
    };
  return { onParameter, onError, watched };
}

// Missing in the client's types.
const hasCallback = (query: unknown): query is { callback: QueryCallback } =>
  query instanceof pg.Query && 'callback' in query && typeof query.callback === 'function';

type KnownPooler = { keptUntil: number };

async function setSession(
  client: pg.Client,
  config: SessionConfig,
  { place, pooler }: { place: HostAddress | undefined; pooler: KnownPooler },
): Promise<void> {
  const settings = { ...RELIED_ON, ...config.session };
  const values = [Object.keys(settings), Object.values(settings).map(String)];
  const { rows } = await client.query<{ pid: number }>(SET_SESSION, values);
  // Missing in the client's types.
  const isItself = rows[0]?.pid === (client as unknown as { processID: number }).processID;
  if (isItself || performance.now() < pooler.keptUntil) return;
  const other = new pg.Client(config);
  if (place !== undefined) leadTo(place, other);
  await requireKept(client, other, (config.connectionTimeoutMillis ?? DEFAULT_LIMIT_MS) / 2);
  pooler.keptUntil = performance.now() + KEPT_MS;
}

const MARK = `select set_config('waybell.mark', $1, false)`;
const READ_MARK = { name: 'waybell mark', text: `select current_setting('waybell.mark', true) as mark` };
/** As many transactions may each get another connection of a pooler. */
const READS = 3;

/**
 * Throws if a pooler answers that keeps no settings and no prepared statements of a connection over its transactions: then another
 * connection gets the session of this one, or occupies the only one. Closes the other one.
 */
async function requireKept(client: pg.Client, other: pg.Client, limitMs: number): Promise<void> {
  other.on('error', () => undefined);
  // Missing in the client's types: the limit.
  const readMark = Object.assign({ query_timeout: limitMs }, READ_MARK);
  const requireMark = async () => {
    for (let read = 0; read < READS; read += 1) {
      const { rows } = await client.query<{ mark: string }>(readMark).catch(asNone);
      if (rows[0]?.mark !== 'own') throw new Error('a pooler answers for it');
    }
  };
  try {
    await client.query(MARK, ['own']);
    await requireMark();
    await other.connect();
    await other.query('begin');
    await other.query(MARK, ['of another']);
    await requireMark();
    await other.query('commit');
    await requireMark();
  } finally {
    other.end().catch(() => undefined);
    other.connection.stream.destroy();
  }
}

const UNKNOWN_STATEMENT = '26000';

function asNone(error: unknown): { rows: { mark: string }[] } {
  if (
    (error instanceof pg.DatabaseError && error.code === UNKNOWN_STATEMENT) ||
    (error instanceof Error && error.message === READ_TIMEOUT)
  )
    return { rows: [] };
  throw error;
}

const DATES = new Set([pg.types.builtins.DATE, pg.types.builtins.TIMESTAMP, pg.types.builtins.TIMESTAMPTZ]);
const ISO_DATE = /^(\d{4,6}-\d\d-\d\d\b|-?infinity$)/;

/** The client's own parsers, which read a date in another style as another date or as none: that is an error. */
const getTypeParser: typeof pg.types.getTypeParser = (type, format) => {
  const parse = pg.types.getTypeParser(type, format);
  if (!DATES.has(type)) return parse;
  return (text: string) => {
    const date: unknown = parse(text);
    if (ISO_DATE.test(text) && date !== null) return date;
    throw new Error(`Postgres wrote a date that cannot be read: "${text}"`);
  };
};
