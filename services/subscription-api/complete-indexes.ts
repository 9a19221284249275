import { createIndex } from './migrations/create-index.ts';
import type { SqlQuery } from './sql-query.ts';

type Missing = { parent: string; partition: string; isUnique: boolean; columns: string };

export type CompleteOptions = {
  attach: (sql: string) => Promise<unknown>;
  /** Reports work that may take long, and runs it. */
  tell: (name: string, work: () => Promise<void>) => Promise<void>;
};

/** Partitions of the log that lack an index of their table; the definition of an index has its columns after `USING`. */
const MISSING = `
select i.indexrelid::regclass::text as parent, p.inhrelid::regclass::text as partition, i.indisunique as "isUnique",
  substring(pg_get_indexdef(i.indexrelid) from ' (USING .*)$') as columns
from pg_index i join pg_class t on t.oid = i.indrelid and t.relkind = 'p' join pg_inherits p on p.inhparent = t.oid
where t.relnamespace = to_regnamespace('delivery_log') and not p.inhdetachpending and not exists (
  select from pg_inherits c join pg_index own on own.indexrelid = c.inhrelid
  where c.inhparent = i.indexrelid and own.indrelid = p.inhrelid)
order by 2, 1`;

/**
 * Creates a new index of a table of days on the table alone, which locks nothing, and here on each existing day, while everything
 * goes on. Not in a transaction. An index that was left half-built is completed the next time.
 */
export async function completeIndexes(query: SqlQuery, { attach, tell }: CompleteOptions): Promise<void> {
  for (const { parent, partition, isUnique, columns } of await query<Missing>(MISSING)) {
    const name = `${partition}_of_${parent.replace(/^.*\./, '')}`;
    await tell(name, () => createIndex(query, { name, table: partition, columns, isUnique }));
    await attach(`alter index ${parent} attach partition ${name}`);
  }
}
