/** The entry `@waybell/receiver/postgres`: a store in Postgres, and work in the transaction that records its notification. */
import { randomUUID } from 'node:crypto';
import { requireNumbers, requireTimers } from './require-options.ts';
import { KEEP_MS, LEASE_MS, takenOver, type Begun, type Store, type StoreTimes } from './store.ts';

/** A pool or a client of `pg`, or whatever runs SQL with `$1`. */
export type Queryable = { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

/** A client that a pool of `pg` hands out. */
export type PooledClient = {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string }>;
  release(isBroken?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
};

export type KeepOptions = Pick<StoreTimes, 'keepMs'>;

/** The table of `postgresStore` and `recordOnce`, for your migrations; does nothing where it is there. A lease is null once it was handled. */
export const receivedTable = `do $$ begin
  -- Several processes may start at once.
  perform pg_advisory_xact_lock(hashtext('waybell_received'));
  if to_regclass('waybell_received') is null then
    create table waybell_received (
      id text primary key,
      lease uuid,
      expires_at timestamptz not null
    );
    create index waybell_received_expires_at on waybell_received (expires_at);
  end if;
end $$;`;

// A row that another transaction has locked, as recordOnce does during the work, is never waited for: a waiting statement holds a
// connection, and the pool of the work would run out of them. So an existing row is not inserted again either.
const BEGIN = `with
  added as (
    insert into waybell_received (id, lease, expires_at)
      select $1, $2::uuid, clock_timestamp() + $3 * interval '1 ms'
      where not exists (select from waybell_received where id = $1)
      on conflict do nothing returning id),
  taken as (
    update waybell_received set lease = $2::uuid, expires_at = clock_timestamp() + $3 * interval '1 ms'
      where id = (select id from waybell_received where id = $1 and expires_at <= clock_timestamp() for update skip locked)
      returning id)
  select exists (select from added union all select from taken) as "isNew",
    exists (select from waybell_received where id = $1 and lease is null) as "isDone"`;
const RENEW = `update waybell_received set expires_at = clock_timestamp() + $3 * interval '1 ms'
  where id = (select id from waybell_received where id = $1 and lease = $2 for update skip locked)`;
const FINISH = `insert into waybell_received as known (id, lease, expires_at)
  values ($1, null, clock_timestamp() + $3 * interval '1 ms')
  on conflict (id) do update set lease = null, expires_at = excluded.expires_at
    where known.lease = $2 or known.expires_at <= clock_timestamp()
  returning id`;
const IS_DONE = 'select from waybell_received where id = $1 and lease is null';
const FAIL = 'delete from waybell_received where id = $1 and lease = $2';
const RECORD = `insert into waybell_received as known (id, lease, expires_at)
  values ($1, null, clock_timestamp() + $2 * interval '1 ms')
  on conflict (id) do update set lease = null, expires_at = clock_timestamp() + $2 * interval '1 ms'
    where known.lease is not null or known.expires_at <= clock_timestamp()
  returning id`;
const CLEANED_AT_ONCE = 1_000;
const CLEAN_UP = `delete from waybell_received where id in
  (select id from waybell_received where expires_at <= clock_timestamp() limit ${CLEANED_AT_ONCE} for update skip locked)
  returning id`;
const CLEAN_UP_EVERY_MS = 10_000;

/** A store that processes share, in the table of `receivedTable`, from which it deletes expired rows. */
export function postgresStore(postgres: Queryable, { leaseMs = LEASE_MS, keepMs = KEEP_MS }: StoreTimes = {}): Store {
  requireTimers({ leaseMs });
  requireNumbers({ keepMs });
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      const lease = randomUUID();
      const [known] = (await postgres.query(BEGIN, [id, lease, leaseMs])).rows as { isNew: boolean; isDone: boolean }[];
      if (known?.isNew) return { kind: 'new', lease };
      return known?.isDone ? { kind: 'done' } : { kind: 'in_progress' };
    },
    async renew(id, lease) {
      await postgres.query(RENEW, [id, lease, leaseMs]);
    },
    async finish(id, lease) {
      const isRecorded = (await postgres.query(FINISH, [id, lease, keepMs])).rows.length > 0;
      // recordOnce may have been first.
      if (!isRecorded && (await postgres.query(IS_DONE, [id])).rows.length === 0) throw takenOver(id);
      await cleanUp(postgres, postgres);
    },
    async fail(id, lease) {
      await postgres.query(FAIL, [id, lease]);
    },
  };
}

const cleanedAt = new WeakMap<object, number>();

/** Deletes expired rows, at intervals for each pool. */
async function cleanUp(pool: object, client: Queryable): Promise<void> {
  if (performance.now() - (cleanedAt.get(pool) ?? -Infinity) < CLEAN_UP_EVERY_MS) return;
  cleanedAt.set(pool, performance.now());
  const { rows } = await client.query(CLEAN_UP);
  // The next call deletes more rows.
  if (rows.length === CLEANED_AT_ONCE) cleanedAt.delete(pool);
}

/**
 * Records in your own transaction that a notification is handled: false if it was before, and nothing is to be done. If several
 * transactions do so at once, the others wait for the first, and one of them records it if that is rolled back. If neither `postgresStore`
 * nor `inTransaction` is used, delete expired rows yourself: `delete from waybell_received where expires_at <= now()`.
 */
export async function recordOnce(
  transaction: Queryable,
  id: string,
  { keepMs = KEEP_MS }: KeepOptions = {},
): Promise<boolean> {
  requireNumbers({ keepMs });
  const { rows } = await transaction.query(RECORD, [id, keepMs]);
  return rows.length > 0;
}

/**
 * Runs `work` in a transaction that also records the notification: both or neither. Resolves with whether it was new. Rejects
 * also if Postgres had aborted the transaction and `work` did not throw.
 */
export async function inTransaction<C extends PooledClient>(
  pool: { connect(): Promise<C> },
  id: string,
  work: (client: C) => Promise<unknown>,
  options: KeepOptions = {},
): Promise<boolean> {
  const client = await pool.connect();
  let isBroken = false;
  // A connection that is lost while no query runs would otherwise end the process.
  const onLost = () => {
    isBroken = true;
  };
  client.on('error', onLost);
  try {
    await client.query('begin');
    const isNew = await recordOnce(client, id, options);
    if (isNew) await work(client);
    // Postgres answers the commit of an aborted transaction with a rollback, and no error.
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new Error(ABORTED);
    // The work is done, whether this succeeds or not; a lost connection is reported by its own event.
    await cleanUp(pool, client).catch(() => undefined);
    return isNew;
  } catch (error) {
    // The first error is the one to report; a connection that cannot even roll back is not used again.
    await client.query('rollback').catch(onLost);
    throw error;
  } finally {
    client.off('error', onLost);
    client.release(isBroken);
  }
}

const ABORTED =
  'a query failed and its error was caught, so that Postgres rolled everything back: to go on after an error use a savepoint, or "on conflict"';
