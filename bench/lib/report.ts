import type { Spread } from './statistics.ts';
import type { MachineFacts, Versions } from './machine.ts';

/** One bar of a scenario: what was promised, and what came out. Without a figure it was not measured. */
export type BarCheck = { what: string; figure: number | Spread; bar: { atLeast: number } | { atMost: number } };

type Rounds = Record<string, readonly unknown[]>;

export type ScenarioReport = {
  name: string;
  workload: string;
  settings: Record<string, unknown>;
  /** The results of each round of each contender, as measured. */
  rounds: Rounds;
  tables: Table[];
  checks: BarCheck[];
};

export type BenchReport = {
  beganAt: string;
  isQuick: boolean;
  machine: MachineFacts;
  versions: Versions;
  scenarios: ScenarioReport[];
};

/** All figures as JSON; those that are not finite, which JSON does not know, by their names. */
export function formatJson(report: BenchReport): string {
  const named = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  return `${JSON.stringify(report, named, 2)}\n`;
}

export function isMet({ figure, bar }: BarCheck): boolean {
  const value = typeof figure === 'number' ? figure : figure.median;
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost;
}

/** A scenario as Markdown: what was done, tables, and each bar with its verdict. */
export function formatScenario({ name, workload, tables, checks }: ScenarioReport): string {
  const verdicts: Table = {
    title: 'Bars',
    columns: ['promise', 'bar', 'here', 'verdict'],
    rows: checks.map((check) => [check.what, formatBar(check.bar), check.figure, isMet(check) ? 'met' : 'MISSED']),
  };
  const all = checks.length > 0 ? [...tables, verdicts] : tables;
  return [`## ${name}`, workload, ...all.map(formatTable)].join('\n\n');
}

export function formatFacts({ beganAt, isQuick, machine, versions }: Omit<BenchReport, 'scenarios'>): string {
  const { cpu, cores, memoryGib, kernel } = machine;
  const of = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const length = isQuick ? ', short (`--quick`)' : '';
  return `Begun ${beganAt}${length} on ${cores} cores of ${cpu}, ${memoryGib} GiB, ${kernel}: ${of.join(', ')}.`;
}

function formatBar(bar: BarCheck['bar']): string {
  return 'atLeast' in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
}

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
