import type pg from 'pg';

/** The size of a table of the log on disk, all its partitions together. */
export type Size = { table: string; rows: number; heapBytes: number; indexBytes: number };

/** Rows as they were counted when the tables were last analysed. */
export async function logSizes(postgres: pg.Pool): Promise<Size[]> {
  const { rows } = await postgres.query<Size>(
    `select parent.relname as table, sum(part.reltuples)::float8 as rows,
       sum(pg_table_size(part.oid))::float8 as "heapBytes", sum(pg_indexes_size(part.oid))::float8 as "indexBytes"
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class part on part.oid = inhrelid
     where parent.relnamespace = 'delivery_log'::regnamespace and parent.relkind = 'p' and part.reltuples > 0
     group by 1 order by 1`,
  );
  return rows;
}
