import type { MachineFacts, Versions } from './machine.ts';
import type { Spread } from './statistics.ts';

/** One bar of a scenario: what was promised, and what came out. Without a figure it was not measured. */
export type BarCheck = { what: string; figure: number | Spread; bar: { atLeast: number } | { atMost: number } };

export type ScenarioReport = {
  name: string;
  workload: string;
  settings: Record<string, unknown>;
  /** The results of each round of each contender, as measured. */
  rounds: Record<string, readonly unknown[]>;
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

export type Cell = string | number | Spread;
export type Table = { title: string; columns: readonly string[]; rows: readonly (readonly Cell[])[] };

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

const COLUMN_WIDTH = 56;

/** Explanations of the tables' columns, for `--help`. A table without a unit in its columns has one in its title. */
export const COLUMNS: Readonly<Record<string, string>> = {
  '': 'the first column, without a name: what was measured: Waybell, or what it is compared with',
  'deliveries/s': 'callbacks answered, per second',
  deliveries: 'deliveries that travel in one message, on the mean',
  all: 'the whole: CPU or wake-ups of all parts, each part beside it',
  'p50, p99': 'half, and 99 of 100, took no longer; of F2 and low in half of the windows of 2 s',
  'waybell, bare line, times': 'what each takes, and the first as a multiple of the second',
  'messages published, Redis commands':
    'messages that RabbitMQ took, and commands that Redis ran, those of scripts included',
  'commits, rows written': 'transactions and rows that Postgres wrote',
  'WAL bytes, WAL syncs': 'what Postgres writes ahead, and how often it waits until that is on disk',
  'least, longest, most': 'the shortest and the longest that was seen',
  'after, expected, came': 'the delay that the schedule says, retries due, and retries that came',
  service: 'the process that the row is about',
  CPU: 'time on a core, % of one',
  'CPU per request, µs': 'CPU that one request costs the process',
  'requests/s': 'requests answered, per second',
  'pass, whole handshakes, resumed':
    'each round over the same hosts, TLS handshakes in full, and those that were cut short',
  'resident, MiB': 'memory of the process at the end of the pass',
  'a second': 'attempts, or whole deliveries, written down, per second',
  'CPU of the process, µs, CPU of Postgres, µs': 'for each of these',
  'WAL, bytes': 'what Postgres writes ahead for each of these',
  'table, rows': 'a table of the delivery log',
  'of that indexes': 'the part of the column before it',
  'bytes on disk': 'with indexes',
  'put/s, sent/s': 'deliveries put aside for an endpoint that hangs, and sent once it answers, per second',
  'reports/s, CPU per report, µs': 'location reports read per second, and what one costs',
  'vehicles/s': 'states of vehicles kept, per second',
  'committed/s, published/s': 'events of transactions that were committed, and events that the broker took, per second',
  'caller, relay, postgres, rabbitmq': 'CPU that one event costs each of these processes',
  taken: 'what one delivery takes; of files, how many of ours an event enters',
  'promise, bar, here, verdict': 'under "Bars": what is promised, the limit, what came out, and whether it is met',
};

/** Each with what it says, aligned. */
export function describeColumns(): string[] {
  return Object.entries(COLUMNS).map(([names, meaning]) => `  ${(names || '(none)').padEnd(COLUMN_WIDTH)}${meaning}`);
}
