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
  const lines = rows[table].map((row) => columns.map(({ type, of }) => fieldOf(of(row), type)).join('\t'));
  return `${lines.join('\n')}\n`;
}

const SPECIAL = /[\\\t\n\r]/;
const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function fieldOf(value: string | number | null | undefined, type: string): string {
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'number') return String(value);
  if (type !== 'text' && type !== 'jsonb') return value;
  return SPECIAL.test(value) ? value.replaceAll(/[\\\t\n\r]/g, (special) => ESCAPED[special] ?? special) : value;
}
