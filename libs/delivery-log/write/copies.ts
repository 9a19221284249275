import type { Copy } from '@waybell/runtime/postgres';
import { nameOf, writerOf } from '../columns.ts';
import { columnsOf, tableNames, type AnyPart, type LogRows, type TableName } from '../tables.ts';

/** Makes the `copy` data of these rows: it costs Postgres half as much as inserting them. */
export function copiesOf(rows: LogRows): Copy[] {
  const filled = tableNames.filter((table) => rows[table].length > 0);
  return filled.map((table) => ({ text: COPIES[table].text, data: bytesOf(table, rows) }));
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

/** Bytes that are sent together. */
const PIECE = 2 ** 14;
/** Of one character. */
const MOST_BYTES = 3;
const [TAB, NEWLINE] = [9, 10];

/** Writes the text format of COPY: a line for each row, tabs between columns. Text that is joined first would be garbage twice. */
function bytesOf(table: TableName, rows: LogRows): Buffer[] {
  const { writers } = COPIES[table];
  const pieces: Buffer[] = [];
  let [piece, at] = [Buffer.allocUnsafe(PIECE), 0];
  for (const part of rows[table]) {
    for (const write of writers) {
      const text = write(part);
      if (at + MOST_BYTES * text.length >= piece.length) {
        pieces.push(piece.subarray(0, at));
        [piece, at] = [Buffer.allocUnsafe(Math.max(PIECE, Buffer.byteLength(text) + 1)), 0];
      }
      at += piece.write(text, at);
      piece[at] = TAB;
      at += 1;
    }
    piece[at - 1] = NEWLINE;
  }
  return [...pieces, piece.subarray(0, at)];
}
