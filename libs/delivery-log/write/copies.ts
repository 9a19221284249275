import type { Copy } from '@waybell/runtime/postgres';
import { nameOf, writerOf } from '../columns.ts';
import { columnsOf, tableNames, type AnyPart, type LogRows, type TableName } from '../tables.ts';

/** Makes the `copy` data of these rows: it costs Postgres half as much as inserting them. */
export function copiesOf(rows: LogRows): Copy[] {
  const filled = tableNames.filter((table) => rows[table].length > 0);
  return filled.map((table) => ({ text: COPIES[table].text, data: textOf(table, rows) }));
}

type Copied = { text: string; writers: ((part: AnyPart) => string)[] };

// `fromEntries` does not type its result: `tableNames` has every table.
const COPIES = Object.fromEntries(tableNames.map((table) => [table, copyOf(table)])) as Record<TableName, Copied>;

function copyOf(table: TableName): Copied {
  const columns = Object.entries(columnsOf(table));
  return {
    text: `copy delivery_log.${table} (${columns.map(([member]) => nameOf(member)).join(', ')}) from stdin`,
    writers: columns.map(([, column]) => writerOf(column)),
  };
}

/** Characters that are sent together: V8 keeps larger texts apart, and looks at all of its memory after a few. */
const PIECE = 2 ** 14;

/** Writes the text format of COPY: a line for each row, tabs between columns. */
function textOf(table: TableName, rows: LogRows): string[] {
  const { writers } = COPIES[table];
  const cells = writers.map(() => '');
  const pieces: string[] = [];
  let text = '';
  for (const part of rows[table]) {
    for (let place = 0; place < writers.length; place += 1) cells[place] = writers[place]?.(part) ?? '';
    text += `${cells.join('\t')}\n`;
    if (text.length < PIECE) continue;
    pieces.push(text);
    text = '';
  }
  return [...pieces, text];
}
