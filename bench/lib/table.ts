import type { Spread } from './statistics.ts';

export type Cell = string | number | Spread;
export type Table = { title: string; columns: readonly string[]; rows: readonly (readonly Cell[])[] };

/** A table as Markdown, its columns aligned: text to the left, figures to the right. */
export function formatTable({ title, columns, rows }: Table): string {
  const cells = rows.map((row) => columns.map((_, at) => formatCell(row[at] ?? '')));
  const isText = columns.map((_, at) => rows.every((row) => typeof (row[at] ?? '') === 'string'));
  const widths = columns.map((column, at) => Math.max(3, column.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => (isText[at] ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (isText[at] ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [`**${title}**`, '', line(columns), rule, ...cells.map(line)].join('\n');
}

/** A figure to three digits or more, with its spread where there is one. */
export function formatCell(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return formatNumber(cell);
  const { median, min, max } = cell;
  if (min === max) return formatNumber(median);
  return `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`;
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
