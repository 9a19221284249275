import { types } from 'node:util';
import pg from 'pg';
import { addressesIn } from './addresses.ts';
import { Login } from './login.ts';
import type { ServerAddress } from './server-address.ts';
import { findWritable, leadTo, requireWrites, type HostAddress } from './writable-host.ts';

/** The error of the client's own limit, which is longer than the server's: the server would have answered. */
export const READ_TIMEOUT = 'Query read timeout';
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
