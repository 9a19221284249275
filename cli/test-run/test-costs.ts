import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import budgetsOfFolders from './test-budgets.json' with { type: 'json' };

/** The cost of a test file, all of its tests together. */
export type TestCost = {
  path: string;
  tests: number;
  /** CPU of the worker and of the processes that it started, without servers that the run lends. */
  cpuSeconds: number;
  /** Seconds of a worker's time. */
  clockSeconds: number;
  /** RabbitMQ, Postgres and Redis processes that it started itself. */
  servers: number;
};

/** The budget of a folder's tests in the gate, in seconds of CPU and of a worker's time. */
export type TestBudget = { cpuSeconds: number; clockSeconds: number };

/** The costs of a folder, or of the whole run. */
type FolderCost = Omit<TestCost, 'path'> & { folder: string; files: number };

const KEPT = join(repository, '.waybell', 'test-costs.json');

/** Stores the costs of these files in addition to those of others, for choosing tests later. */
export function keepCosts(costs: readonly TestCost[]): void {
  const kept = new Map([...readCosts(), ...costs.map((cost) => [cost.path, cost] as const)]);
  mkdirSync(dirname(KEPT), { recursive: true });
  // Whole at any time: another run may read it, or this one be killed.
  const next = `${KEPT}.${process.pid}`;
  writeFileSync(next, `[\n${[...kept.values()].map((cost) => JSON.stringify(cost)).join(',\n')}\n]\n`);
  renameSync(next, KEPT);
}

/** Reads the last costs measured here, by path; empty where there are none, or they cannot be read. */
export function readCosts(): Map<string, TestCost> {
  try {
    // Written by the function above.
    const kept = JSON.parse(readFileSync(KEPT, 'utf8')) as TestCost[];
    return new Map(kept.map((cost) => [cost.path, cost]));
  } catch {
    return new Map();
  }
}

/** `libs/line`, `tests/system`; `cli` and `bench` are one each. */
export function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return ['libs', 'packages', 'services', 'tests'].includes(first) ? `${first}/${second}` : first;
}

/** The budget of each test folder in the gate: a quarter more than they were seen to take. */
export const readBudgets = (): Map<string, TestBudget> => new Map(Object.entries(budgetsOfFolders));

/** A line a folder, the longest first, and one of all: `allCpuSeconds` is what the whole run has taken, with the servers that it lends. */
export function describeCosts(costs: readonly TestCost[], allCpuSeconds: number): string[] {
  const all = { ...rowOf('all, with what is lent', costs), cpuSeconds: allCpuSeconds };
  return [
    line(['folder', 'files', 'tests', 'CPU s', 'clock s', 'servers']),
    ...[...rowsOf(costs), all].map((row) =>
      line([row.folder, row.files, row.tests, seconds(row.cpuSeconds), seconds(row.clockSeconds), row.servers]),
    ),
  ];
}

/** A line for each folder that is over its budget. */
export function overBudget(costs: readonly TestCost[], budgets: ReadonlyMap<string, TestBudget>): string[] {
  return rowsOf(costs).flatMap((row) => {
    const budget = budgets.get(row.folder) ?? { cpuSeconds: 0, clockSeconds: 0 };
    return (['cpuSeconds', 'clockSeconds'] as const)
      .filter((what) => row[what] > budget[what])
      .map((what) => `over its budget: ${row.folder} takes ${seconds(row[what])} s ${NAMES[what]}, of ${budget[what]}`);
  });
}

const NAMES = { cpuSeconds: 'of CPU', clockSeconds: 'of the clock' } as const;

function rowsOf(costs: readonly TestCost[]): FolderCost[] {
  return [...Map.groupBy(costs, ({ path }) => folderOf(path))]
    .map(([folder, each]) => rowOf(folder, each))
    .toSorted((left, right) => right.clockSeconds - left.clockSeconds);
}

function rowOf(folder: string, costs: readonly TestCost[]): FolderCost {
  const sum = (what: 'tests' | 'cpuSeconds' | 'clockSeconds' | 'servers') =>
    costs.reduce((all, cost) => all + cost[what], 0);
  return {
    folder,
    files: costs.length,
    tests: sum('tests'),
    cpuSeconds: sum('cpuSeconds'),
    clockSeconds: sum('clockSeconds'),
    servers: sum('servers'),
  };
}

const seconds = (value: number): string => value.toFixed(0);

const line = ([first, ...others]: readonly (string | number)[]): string =>
  `${String(first).padEnd(26)}${others.map((text) => String(text).padStart(9)).join('')}`;
