import { types } from 'node:util';
import pg from 'pg';
import { addressesIn } from './addresses-in.ts';
import type { ServerAddress } from './server-address.ts';
import { troubleWith } from './server-trouble.ts';
import { findWritable, leadTo, requireWrites } from './writable-host.ts';

/** The error of the client's own limit, which is longer than the server's: the server would have answered. */
export const READ_TIMEOUT = 'Query read timeout';
const READ_ONLY_SQLSTATE = '25006';
/** Parameters that Postgres 14 and newer report with the next answer after they have changed, also to reads. */
const TELLS_READ_ONLY = new Set(['default_transaction_read_only', 'in_hot_standby']);
const DEFAULT_LIMIT_MS = 5_000;

/** The callback that the pool and TypeORM pass. */
type Connected = (error: Error | null, client?: pg.Client) => void;
type Parameter = { parameterName: string; parameterValue: string };
type QueryCallback = (error: unknown, result: unknown) => void;

/**
 * Makes clients of that address for one pool. If the address names several hosts, or asks for one that takes writes, each client
 * connects to one that does. All clients leave a server that turns read-only or does not answer at all. Connection errors name
 * the server, its setting, and what to do.
 */
export function postgresClient(server: ServerAddress): typeof pg.Client {
  const { url, tls, isOfStack } = server;
  const find = findWritable(server);
  const open = new Set<pg.Client>();
  /** Several clients that search together may share an error. */
  const explained = new WeakSet<Error>();

  function leave(reason: string): void {
    for (const client of open) client.connection.stream.destroy(new Error(`left: ${reason}`));
  }

  function heard(error: unknown): void {
    if (!types.isNativeError(error)) return;
    if (error.message === READ_TIMEOUT) leave('it does not answer');
    if (error instanceof pg.DatabaseError && error.code === READ_ONLY_SQLSTATE) leave('it takes no writes');
  }

  function told({ parameterName, parameterValue }: Parameter): void {
    if (TELLS_READ_ONLY.has(parameterName) && parameterValue === 'on') leave('it takes no writes');
  }

  function explain(error: unknown): unknown {
    if (!types.isNativeError(error) || explained.has(error)) return error;
    explained.add(error);
    error.message = troubleWith({ server: 'Postgres', url, isOfStack }, error);
    return error;
  }

  const hearing =
    (answered: QueryCallback): QueryCallback =>
    (error, result) => {
      heard(error);
      answered(error, result);
    };

  return class extends pg.Client {
    readonly #limitMs: number;

    constructor(config: pg.ClientConfig = {}) {
      // Always states TLS: otherwise PGSSLMODE would decide, which can disable all checks.
      super({ ...config, connectionString: addressesIn(url)[0], ssl: tls ?? false });
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
      if (typeof answered === 'function') args[args.length - 1] = hearing(answered as QueryCallback);
      else if (hasCallback(query)) query.callback = hearing(query.callback);
      const result: unknown = Reflect.apply(super.query, this, args);
      if (result instanceof Promise) result.catch(heard);
      return result as never;
    }

    async #connect(): Promise<pg.Client> {
      try {
        const place = await find(this.#limitMs);
        if (place !== undefined) leadTo(place, this);
        await super.connect();
        open.add(this);
        await requireNoPooler(this);
        if (place !== undefined) {
          await requireWrites(this);
          this.connection.on('parameterStatus', told);
        }
        return this;
      } catch (error) {
        this.connection.stream.destroy();
        throw explain(error);
      }
    }
  };
}

// Missing in the client's types.
const hasCallback = (query: unknown): query is { callback: QueryCallback } =>
  query instanceof pg.Query && 'callback' in query && typeof query.callback === 'function';

/** Detects poolers, which report process ids of their own. */
async function requireNoPooler(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  // Missing in the client's types.
  if (rows[0]?.pid !== (client as unknown as { processID: number }).processID)
    throw new Error('a pooler answers for it');
}
