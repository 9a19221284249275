import { nameOf, typeOf, writerOf } from '../columns.ts';
import { columnsOf, tableNames, type AnyRecord, type LogRows } from '../tables.ts';

/** One statement for all tables: one round trip, and all rows or none. */
const INSERT = { name: 'insert-outcomes', text: insertText() };

const WRITERS = tableNames.map((table) => ({ table, writers: Object.values(columnsOf(table)).map(writerOf) }));

/** Builds the statement that inserts the rows. Rows that exist stay as they are. */
export function insertRows(rows: LogRows): { name: string; text: string; values: unknown[][] } {
  const values = WRITERS.flatMap(({ table, writers }) => {
    const records: readonly AnyRecord[] = rows[table];
    return writers.map((write) => records.map(write));
  });
  return { ...INSERT, values };
}

function insertText(): string {
  let place = 0;
  const inserts = tableNames.map((table) => {
    // Arrays of different lengths cannot be nested: they are passed as text and cast afterwards.
    const columns = Object.entries(columnsOf(table)).map(([member, { kind }]) => ({
      name: nameOf(member),
      type: typeOf(kind),
      isArray: kind.endsWith('[]'),
    }));
    const arrays = columns.map(({ type, isArray }) => `$${(place += 1)}::${isArray ? 'text' : type}[]`);
    const names = columns.map(({ name }) => name).join(', ');
    const chosen = columns.map(({ name, type, isArray }) => (isArray ? `${name}::${type}` : name)).join(', ');
    return `insert into delivery_log.${table} (${names})
      select ${chosen} from unnest(${arrays.join(', ')}) as row (${names})
      on conflict do nothing`;
  });
  const last = inserts.pop();
  return `with ${inserts.map((insert, at) => `written_${at} as (${insert})`).join(',\n')}\n${last}`;
}
