import { randomUUID } from 'node:crypto';
import { KEEP_MS, LEASE_MS, type Begun, type Store, type StoreTimes } from './store.ts';

/** A pool or a client of `pg`, or whatever runs SQL with `$1`. */
export type Queryable = { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

/** A client that a pool of `pg` hands out. */
export type PooledClient = Queryable & {
  release(isBroken?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
};

/** The table of `postgresStore` and `recordOnce`, for your migrations; does nothing where it is there. A lease is null once it was handled. */
export const receivedTable = `create table if not exists waybell_received (
  id text primary key,
  lease uuid,
  expires_at timestamptz not null
);
create index if not exists waybell_received_expires_at on waybell_received (expires_at);`;

const BEGIN = `insert into waybell_received as known (id, lease, expires_at)
  values ($1, $2, clock_timestamp() + $3 * interval '1 ms')
  on conflict (id) do update set lease = excluded.lease, expires_at = clock_timestamp() + $3 * interval '1 ms'
    where known.expires_at <= clock_timestamp()
  returning id`;
const IS_DONE = 'select lease is null as "isDone" from waybell_received where id = $1';
const RENEW = `update waybell_received set expires_at = clock_timestamp() + $3 * interval '1 ms' where id = $1 and lease = $2`;
const FINISH = `update waybell_received set lease = null, expires_at = clock_timestamp() + $3 * interval '1 ms' where id = $1 and lease = $2`;
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

/** A store that processes share, in the table of `receivedTable`, from which it deletes what is over. */
export function postgresStore(postgres: Queryable, { leaseMs = LEASE_MS, keepMs = KEEP_MS }: StoreTimes = {}): Store {
  let cleanedAt = -Infinity;
  const run = async (text: string, ...values: unknown[]): Promise<void> => {
    await postgres.query(text, values);
  };
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      const lease = randomUUID();
      const { rows } = await postgres.query(BEGIN, [id, lease, leaseMs]);
      if (rows.length > 0) return { kind: 'new', lease };
      // No row: it failed in between, and the next attempt begins it.
      const [known] = (await postgres.query(IS_DONE, [id])).rows as { isDone: boolean }[];
      return known?.isDone ? { kind: 'done' } : { kind: 'in_progress' };
    },
    renew: (id, lease) => run(RENEW, id, lease, leaseMs),
    async finish(id, lease) {
      await run(FINISH, id, lease, keepMs);
      if (performance.now() - cleanedAt < CLEAN_UP_EVERY_MS) return;
      const { rows } = await postgres.query(CLEAN_UP);
      // Where there is more, the next one goes on.
      if (rows.length < CLEANED_AT_ONCE) cleanedAt = performance.now();
    },
    fail: (id, lease) => run(FAIL, id, lease),
  };
}

/**
 * Records in your own transaction that a notification is handled: false where it was before, and nothing is to be done. Of
 * transactions that do so at once, others wait for the first, and have their turn if it is rolled back.
 */
export async function recordOnce(
  transaction: Queryable,
  id: string,
  { keepMs = KEEP_MS }: StoreTimes = {},
): Promise<boolean> {
  const { rows } = await transaction.query(RECORD, [id, keepMs]);
  return rows.length > 0;
}

/** Runs `work` in a transaction that also records the notification: both or neither. Resolves with whether it was new. */
export async function inTransaction<C extends PooledClient>(
  pool: { connect(): Promise<C> },
  id: string,
  work: (client: C) => Promise<unknown>,
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
    const isNew = await recordOnce(client, id);
    if (isNew) await work(client);
    await client.query('commit');
    return isNew;
  } catch (error) {
    // The first error is the one to tell of; a connection that cannot even roll back is not used again.
    await client.query('rollback').catch(onLost);
    throw error;
  } finally {
    client.off('error', onLost);
    client.release(isBroken);
  }
}
