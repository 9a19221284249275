/**
 * What processes rely on of Postgres and Redis, beside that they answer: writes, versions, limits, and tables of this release. What is
 * wrong appears in readiness and in the log for as long as it is.
 */
import type { Log } from './log.ts';
import { connectPostgres, sqlStateOf, type PostgresOptions, type Queryable } from './postgres.ts';
import type { Readiness } from './readiness.ts';
import type { Redis } from './redis.ts';
import { runEvery } from './run-every.ts';

/**
 * A server that a process relies on. `findWrong` returns what is wrong with it although it answers, in words for its operator, and throws
 * while it is away, which its users report themselves.
 */
type Reliance = { server: 'postgres' | 'redis'; findWrong: () => Promise<string[]> };

type RelianceWatch = { readiness: Pick<Readiness, 'watch'>; log: Log; everyMs?: number };

/** Trouble and recovery are noticed within this time. */
const EVERY_MS = 30_000;

/** A line for each thing that is relied on: the condition in which it is wrong, and the words for that. */
const POSTGRES_WRONG: readonly [condition: string, said: string][] = [
  [
    `current_setting('transaction_read_only') = 'on'`,
    `'takes no writes: it is a standby, or default_transaction_read_only is on'`,
  ],
  [`getdatabaseencoding() <> 'UTF8'`, `'its database has the encoding ' || getdatabaseencoding() || ', not UTF8'`],
  [
    `current_setting('server_version_num')::int < 130000`,
    `'is of version ' || current_setting('server_version') || ', not 13 or newer'`,
  ],
];
const FIND_WRONG = `select said from (values ${POSTGRES_WRONG.map((line) => `(${line.join(', ')})`).join(', ')}) wrong(is_so, said) where is_so`;

/** The same for Redis, by its answer to INFO. */
const REDIS_WRONG: readonly ((info: Map<string, string>) => string | false)[] = [
  (info) =>
    info.get('cluster_enabled') === '1' &&
    'is a cluster, which spreads keys that are used together: name a Redis without cluster-enabled, or sentinels',
  (info) => info.get('role') === 'slave' && 'is a replica, which takes no writes: name its master, or sentinels',
  (info) =>
    Number(info.get('maxmemory') ?? 0) > 0 &&
    // The default of some hosted ones, volatile-lru, serves until it is full.
    info.get('maxmemory_policy')?.startsWith('allkeys') === true &&
    `forgets what is needed, by its maxmemory-policy ${info.get('maxmemory_policy')}: set noeviction or volatile-ttl`,
  (info) =>
    Number.parseInt(info.get('redis_version') ?? '6', 10) < 6 &&
    `is of version ${info.get('redis_version')}, not 6 or newer`,
];

type PostgresReliance = PostgresOptions & {
  /** Something more that is relied on: throws if it is wrong. */
  also?: (postgres: Queryable) => Promise<void>;
};

/** Watches Postgres by a connection that is new each time, as those of pools become: a login that is refused shows. */
export function relyOnPostgres({ also, ...options }: PostgresReliance, watching: RelianceWatch): AsyncDisposable {
  const watch = new AsyncDisposableStack();
  const postgres = watch.use(connectPostgres({ ...options, poolSize: 1, keptIdleMs: 1 }));
  const findWrong = async () => {
    const { rows } = await postgres.query<{ said: string }>(FIND_WRONG);
    if (rows.length === 0) await also?.(postgres);
    return rows.map(({ said }) => said);
  };
  watch.use(rely({ server: 'postgres', findWrong }, watching));
  return watch;
}

/** Watches Redis, from each connect on. */
export function relyOnRedis(redis: Redis, watching: RelianceWatch): AsyncDisposable {
  const watch = rely({ server: 'redis', findWrong: async () => wrongIn(await redis.info()) }, watching);
  redis.on('ready', () => void watch.check());
  return watch;
}

/** Returns what is wrong with a Redis, by its answer to INFO. */
export function wrongIn(text: string): string[] {
  const info = new Map(text.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
  return REDIS_WRONG.map((of) => of(info)).filter((said) => said !== false);
}

function rely({ server, findWrong }: Reliance, { readiness, log, everyMs = EVERY_MS }: RelianceWatch) {
  let wrong: string[] = [];
  readiness.watch(() => wrong);
  const check = async () => {
    const found = await findWrong().catch((error: unknown) => {
      if (sqlStateOf(error) === UNDEFINED_FUNCTION) return [MIGRATIONS];
      // The server is away: its users report that.
      return undefined;
    });
    if (found === undefined) return;
    const said = found.map((each) => (each === MIGRATIONS ? each : `${server}: ${each}`));
    for (const each of said) if (!wrong.includes(each)) log.error({ server, wrong: each }, 'surrounding.wrong');
    if (wrong.length > 0 && said.length === 0) log.info({ server }, 'surrounding.right');
    wrong = said;
  };
  const watch = runEvery(check, { intervalMs: everyMs, beginsAtOnce: true, warning: 'surrounding.not-seen', log });
  return Object.assign(watch, { check });
}

const UNDEFINED_FUNCTION = '42883';

/** Number of the last migration that the services of this version need. */
export const SCHEMA_VERSION = 41;

/** Readiness report of a process whose tables are of an earlier version. */
export const MIGRATIONS = 'migrations (run `waybell migrate`)';

/** Resolves if the tables are of this version, or of a later one, which only adds to them. Otherwise throws. */
export async function checkSchema(postgres: Queryable): Promise<void> {
  const { rows } = await postgres.query<{ version: number }>('select version from waybell.schema_version');
  const version = rows[0]?.version ?? 0;
  if (version < SCHEMA_VERSION)
    throw new Error(`the tables are those of migration ${version}, not of ${SCHEMA_VERSION}`);
}

/** Raises sequences that are behind their tables. Throws if the tables are of an earlier release. */
export async function raiseSequences(postgres: Queryable, log: Pick<Log, 'warn'>): Promise<void> {
  const { rows } = await postgres.query<{ raised: string[] }>('select waybell.raise_sequences() as raised');
  for (const sequence of rows[0]?.raised ?? []) log.warn({ sequence }, 'sequence.raised');
}
