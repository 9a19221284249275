import type { LogRows } from './log-rows.ts';
import { columnsOf, TABLES } from './log-columns.ts';

/** One statement for all five tables: one way to Postgres and back, and all rows or none. */
const INSERT = { name: 'insert-outcomes', text: insertText() };

/** The statement that inserts them. A row that is there already stays as it is. */
export function insertRows(rows: LogRows): { name: string; text: string; values: unknown[][] } {
  const values = TABLES.flatMap((table) => columnsOf(table).map(({ of }) => rows[table].map((row) => of(row) ?? null)));
  return { ...INSERT, values };
}

function insertText(): string {
  let place = 0;
  const inserts = TABLES.map((table) => {
    const columns = columnsOf(table);
    const arrays = columns.map(({ type }) => `$${(place += 1)}::${type}[]`);
    const names = columns.map(({ name }) => name);
    const selected = columns.map(({ name, fromText }) => (fromText === undefined ? name : `${name}::${fromText}`));
    return `insert into delivery_log.${table} (${names.join(', ')})
      select ${selected.join(', ')} from unnest(${arrays.join(', ')}) as row (${names.join(', ')})
      on conflict do nothing`;
  });
  const last = inserts.pop();
  return `with ${inserts.map((insert, at) => `written_${at} as (${insert})`).join(',\n')}\n${last}`;
}
