import type { SqlQuery } from '../last-release.ts';

export type Index = {
  /** With its schema, and so is the table. */
  name: string;
  table: string;
  /** The text after the table in `create index`. */
  columns: string;
  isUnique?: boolean;
};

/**
 * Creates an index while everything reads and writes on. Not in a transaction: for a migration with `transaction = false`.
 * Replaces an index that was left half-built.
 */
export async function createIndex(query: SqlQuery, { name, table, columns, isUnique = false }: Index): Promise<void> {
  const [schema = '', index = ''] = name.split('.');
  // It waits for all that wrote before, and nothing waits behind it.
  await query('set lock_timeout = 0');
  try {
    const left = await query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [name]);
    if (left.length > 0) await query(`drop index concurrently ${schema}.${index}`);
    await query(`create ${isUnique ? 'unique ' : ''}index concurrently if not exists ${index} on ${table} ${columns}`);
  } finally {
    await query('reset lock_timeout');
  }
}
