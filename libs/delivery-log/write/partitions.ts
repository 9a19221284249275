import { inTransaction, onConnection, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { columnNameOf as columnOf, isShortLived, quotingOf, tableNames, type TableName } from '../tables.ts';

export const DAY_MS = 86_400_000;

/** Days since the epoch, in UTC. */
export const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS);

export type PartitionsOptions = {
  /** Number of days before today that are kept; `bodyDays`: the same for bodies. */
  days: number;
  bodyDays: number;
  now: () => number;
};

export type Partitions = {
  now(): number;
  /** Returns the first day that is kept. */
  oldest(table?: TableName): number;
  /** Resolves when there are partitions for records of these times. Throws RangeError for one too far ahead, or `Unavailable`. */
  ensure(times: readonly number[]): Promise<void>;
  /** Forgets which partitions exist: one was found missing. */
  forgetKnown(): void;
  /** Creates partitions for the coming days and drops those before the oldest. Returns the names of the dropped ones. */
  turnOver(): Promise<string[]>;
};

/** Created ahead, so that nothing is created at midnight. */
const DAYS_AHEAD = 2;
/** Allows for clocks that run ahead. */
const LATEST_DAYS_AHEAD = 7;
const ONE_CREATES = 0x77_62_6c_67;
/** Waits for statements that read; blocks none meanwhile. */
const DETACH_LIMIT_MS = 600_000;
/** Longer than the server's limit, so that the server ends the statement. */
const CLIENT_LIMIT_MS = DETACH_LIMIT_MS + 1_000;

/**
 * Keeps one partition per day for each table of the log, in the schema that this role owns. Creates a new one detached, then
 * attaches it; detaches an old one `concurrently` before it is dropped: neither blocks a read or a write.
 */
export function partitionsIn(postgres: Postgres, { days, bodyDays, now }: PartitionsOptions): Partitions {
  const known = new Set<number>();
  const today = () => dayOf(now());
  const oldest = (table?: TableName) => today() - (table !== undefined && isShortLived(table) ? bodyDays : days);

  async function create(day: number): Promise<void> {
    for (const table of tableNames)
      if (day >= oldest(table))
        // No record is at fault, whatever error Postgres returns.
        await whenAvailable(
          postgres,
          () => createPartition(postgres, table, day),
          () => true,
        );
    known.add(day);
  }

  return {
    now,
    oldest,
    async ensure(times) {
      for (const time of times) {
        const day = dayOf(time);
        if (known.has(day)) continue;
        if (!(day <= today() + LATEST_DAYS_AHEAD))
          throw new RangeError(`the record is of a day to come: ${dayNameOf(day)}`);
        await create(day);
      }
    },
    forgetKnown: () => known.clear(),
    async turnOver() {
      for (let day = today(); day <= today() + DAYS_AHEAD; day += 1) await create(day);
      const dropped: string[] = [];
      for (const table of tableNames) dropped.push(...(await dropBefore(postgres, table, oldest(table))));
      return dropped;
    },
  };
}

const dayNameOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const partitionOf = (table: TableName, day: number): string => `${table}_${dayNameOf(day).replaceAll('-', '')}`;

async function createPartition(postgres: Postgres, table: TableName, day: number): Promise<void> {
  const name = `delivery_log.${partitionOf(table, day)}`;
  await inTransaction(postgres, async (client) => {
    // Several replicas may find it missing at once.
    await client.query('select pg_advisory_xact_lock($1)', [ONE_CREATES]);
    const { rows } = await client.query<{ is_attached: boolean }>(
      'select relispartition as is_attached from pg_class where oid = to_regclass($1)',
      [name],
    );
    if (rows.length === 0) {
      await client.query(`create table ${name} (like delivery_log.${table} including all)`);
      for (const member of quotingOf(table))
        await client.query(`alter table ${name} alter column ${columnOf(member)} set statistics 0`);
    }
    if (rows[0]?.is_attached !== true) {
      await client.query(
        `alter table delivery_log.${table} attach partition ${name}
           for values from ('${dayNameOf(day)} 00:00Z') to ('${dayNameOf(day + 1)} 00:00Z')`,
      );
    }
  });
}

const PARTITIONS = `
select c.relname as name, i.inhdetachpending as is_detaching
from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = $1::regclass and c.relname < $2
union all
-- Detached, and its process died before it was dropped.
select c.relname, null from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'delivery_log' and c.relkind = 'r' and not c.relispartition
  and c.relname < $2 and c.relname ~ ('^' || $3 || '_[0-9]{8}$')
-- Postgres detaches one at a time: an interrupted one has to be ended before the next.
order by is_detaching desc nulls last, name`;

async function dropBefore(postgres: Postgres, table: TableName, day: number): Promise<string[]> {
  return onConnection(postgres, async (client) => {
    const patiently = (text: string) => client.query({ text, query_timeout: CLIENT_LIMIT_MS } as { text: string });
    await client.query(`set statement_timeout = ${DETACH_LIMIT_MS}`);
    const values = [`delivery_log.${table}`, partitionOf(table, day), table];
    const { rows } = await client.query<{ name: string; is_detaching: boolean | null }>(PARTITIONS, values);
    for (const { name, is_detaching } of rows) {
      const detach = `alter table delivery_log.${table} detach partition delivery_log.${name}`;
      if (is_detaching !== null) await patiently(`${detach} ${is_detaching ? 'finalize' : 'concurrently'}`);
      await patiently(`drop table delivery_log.${name}`);
    }
    await client.query('reset statement_timeout');
    return rows.map(({ name }) => name);
  });
}
