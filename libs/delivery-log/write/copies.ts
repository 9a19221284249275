import type { Copy } from '@waybell/runtime/postgres';
import { nameOf, writerOf, type ColumnValue } from '../columns.ts';
import { columnsOf, tableNames, type AnyRecord, type LogRows, type TableName } from '../tables.ts';

/** Makes the `copy` data of these rows: it costs Postgres half as much as inserting them. */
export function copiesOf(rows: LogRows): Copy[] {
  const filled = tableNames.filter((table) => rows[table].length > 0);
  return filled.map((table) => ({ text: COPIES[table].text, data: textOf(table, rows) }));
}

type Copied = { text: string; writers: ((record: AnyRecord) => ColumnValue)[]; isEscaped: boolean[] };

// `fromEntries` does not type its result: `tableNames` has every table.
const COPIES = Object.fromEntries(tableNames.map((table) => [table, copyOf(table)])) as Record<TableName, Copied>;

function copyOf(table: TableName): Copied {
  const columns = Object.entries(columnsOf(table));
  return {
    text: `copy delivery_log.${table} (${columns.map(([member]) => nameOf(member)).join(', ')}) from stdin`,
    writers: columns.map(([, column]) => writerOf(column)),
    isEscaped: columns.map(([, { kind }]) => kind === 'text' || kind === 'text[]' || kind === 'jsonb'),
  };
}

/** Writes the text format of COPY: a line for each row, tabs between columns. */
function textOf(table: TableName, rows: LogRows): string {
  const { writers, isEscaped } = COPIES[table];
  const lines = rows[table].map((record) =>
    writers.map((write, place) => fieldOf(write(record), isEscaped[place] === true)).join('\t'),
  );
  return `${lines.join('\n')}\n`;
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function fieldOf(value: ColumnValue, isEscaped: boolean): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  if (!isEscaped || !SPECIAL.test(value)) return value;
  return value.replaceAll(/[\\\t\n\r]/g, (special) => ESCAPED[special] ?? special);
}
