import type { Copy } from '@waybell/runtime/postgres';
import { columnsOf, TABLES } from './log-columns.ts';
import type { LogRows } from './log-rows.ts';

/** What has to be copied for these rows: half of what inserting them would cost Postgres. */
export function copiesOf(rows: LogRows): Copy[] {
  const filled = TABLES.filter((table) => rows[table].length > 0);
  return filled.map((table) => ({ text: COPIES[table], data: textOf(table, rows) }));
}

// Every table is in `TABLES`, which the type of `fromEntries` does not say.
const COPIES = Object.fromEntries(TABLES.map((table) => [table, copyText(table)])) as Record<keyof LogRows, string>;

function copyText(table: keyof LogRows): string {
  const names = columnsOf(table).map(({ name }) => name);
  return `copy delivery_log.${table} (${names.join(', ')}) from stdin`;
}

/** In the text format of COPY: a line for each row, a tab between its columns. */
function textOf(table: keyof LogRows, rows: LogRows): string {
  const columns = columnsOf(table);
  let text = '';
  for (const row of rows[table]) {
    let separator = '';
    for (const { of } of columns) {
      text += separator + fieldOf(of(row));
      separator = '\t';
    }
    text += '\n';
  }
  return text;
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function fieldOf(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'number' || !SPECIAL.test(value)) return String(value);
  return value.replaceAll(/[\\\t\n\r]/g, (special) => ESCAPED[special] ?? special);
}
