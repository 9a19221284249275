import { types } from 'node:util';
import pg from 'pg';
import { addressesIn } from './addresses-in.ts';
import type { ServerAddress } from './server-address.ts';
import { troubleWith } from './server-trouble.ts';
import { findWritable, leadTo, requireWrites } from './writable-host.ts';

/** The error of the client's own limit: it is longer than the server's, so that the server would have answered. */
export const READ_TIMEOUT = 'Query read timeout';
const READ_ONLY_SQLSTATE = '25006';
/** Parameters that Postgres 14 and newer report with the next answer, to reads too, once they have changed. */
const TELLS_READ_ONLY = new Set(['default_transaction_read_only', 'in_hot_standby']);
const DEFAULT_LIMIT_MS = 5_000;

/** As the pool and TypeORM call them, with a callback. */
type Connected = (error: Error | null, client?: pg.Client) => void;
type Parameter = { parameterName: string; parameterValue: string };
type QueryCallback = (error: unknown, result: unknown) => void;

/**
 * Clients of that address, for one pool. Where it names several hosts, or asks for one that takes writes, each connects to one
 * that does. Once a server tells that it is read-only, or does not answer at all, all of them leave it. Errors of connecting
 * say which server is meant, by which setting, and what to do.
 */
export function postgresClient(server: ServerAddress): typeof pg.Client {
  const { url, tls, isOfStack } = server;
  const find = findWritable(server);
  const open = new Set<pg.Client>();
  /** One may be of several clients, which have searched together. */
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
      // TLS is said in any case: else PGSSLMODE would decide, which can say not to check anything.
      super({ ...config, connectionString: addressesIn(url)[0], ssl: tls ?? false });
      this.#limitMs = config.connectionTimeoutMillis ?? DEFAULT_LIMIT_MS;
      // Whoever holds it learns of its loss by its query; an error event without a listener would end the process.
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

    // A query has many forms: some end with a function, some begin with a query that has one, others return a promise.
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

// The types of the client leave it out.
const hasCallback = (query: unknown): query is { callback: QueryCallback } =>
  query instanceof pg.Query && 'callback' in query && typeof query.callback === 'function';

/** Poolers hand out process ids of their own. */
async function requireNoPooler(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  // The types leave it out.
  if (rows[0]?.pid !== (client as unknown as { processID: number }).processID)
    throw new Error('a pooler answers for it');
}
