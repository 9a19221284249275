import type { Queryable } from '@waybell/runtime/postgres';
import type { AskedKey } from './log-tables.ts';

/** Whether the log has a key of that kind. `key` is normalized (`normalizedKey`). */
export async function hasKind(postgres: Queryable, { key, kind }: Required<AskedKey>): Promise<boolean> {
  const { rows } = await postgres.query(
    'select from (select kind from delivery_log.keys where key = $1 group by kind) k where kind = $2',
    [key, kind],
  );
  return rows.length > 0;
}
