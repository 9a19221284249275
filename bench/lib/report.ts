import { formatTable, type Table } from './table.ts';
import type { Spread } from './statistics.ts';
import type { MachineFacts, Versions } from './machine.ts';

/** One bar of a scenario: what was promised, and what came out. Without a figure it was not measured. */
export type BarCheck = { what: string; figure: number | Spread; bar: { atLeast: number } | { atMost: number } };

export type Rounds = Record<string, readonly unknown[]>;

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
