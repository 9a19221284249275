import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import budgetsOfFolders from './test-budgets.json' with { type: 'json' };

/** Things that a test file starts or borrows. Noise moves none of these counts, so that they have budgets. */
const COUNTED = ['servers', 'services', 'browsers', 'vhosts', 'databases', 'breakables'] as const;

type Borrowable = (typeof COUNTED)[number];

/** The cost of a test file, all of its tests together. */
export type TestCost = {
  path: string;
  tests: number;
  /** CPU of the worker and of the processes that it started, without servers that the run lends. */
  cpuSeconds: number;
  /** Seconds of a worker's time. */
  clockSeconds: number;
} & { [What in Borrowable]?: number };

/**
 * The most that the tests of a folder in the gate may start or borrow; `files` of tests, and `modules` of the repository that
 * these load.
 */
export type TestBudget = { files: number; modules: number } & { [What in Borrowable]?: number };

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

/** The budget of each test folder in the gate. */
export const readBudgets = (): Map<string, TestBudget> => new Map(Object.entries(budgetsOfFolders));

/** Folders that are named one by one; the others are a line together. */
const NAMED = 8;

/** Tells where the time went: the folders that took most CPU, and all; `allCpuSeconds` is with the servers that the run lends. */
export function describeCosts(costs: readonly TestCost[], allCpuSeconds: number): string[] {
  const folders = [...Map.groupBy(costs, ({ path }) => folderOf(path))].toSorted(
    ([, left], [, right]) => sum(right, 'cpuSeconds') - sum(left, 'cpuSeconds'),
  );
  const others = folders.slice(NAMED).flatMap(([, each]) => each);
  const rows = [...folders.slice(0, NAMED), ['others', others] as const, ['all tests', costs] as const];
  return [
    line(['folder', 'files', 'tests', 'CPU s', 'clock s']),
    ...rows
      .filter(([, each]) => each.length > 0)
      .map(([name, each]) =>
        line([
          name,
          each.length,
          sum(each, 'tests'),
          seconds(sum(each, 'cpuSeconds')),
          seconds(sum(each, 'clockSeconds')),
        ]),
      ),
    line(['and what is lent', '', '', seconds(allCpuSeconds)]),
  ];
}

/** A line for each folder whose tests of the gate start or borrow more than its budget. */
export function overBudget(costs: readonly TestCost[], budgets: ReadonlyMap<string, TestBudget>): string[] {
  const ofGate = costs.filter(({ path }) => !/\.(?:long|timing)\.test\.ts$/.test(path));
  return [...Map.groupBy(ofGate, ({ path }) => folderOf(path))].flatMap(([folder, each]) =>
    COUNTED.map((what) => ({ what, amount: sum(each, what), most: budgets.get(folder)?.[what] ?? 0 }))
      .filter(({ amount, most }) => amount > most)
      .map(({ what, amount, most }) => `over its budget: ${folder} takes ${amount} ${what}, of ${most}`),
  );
}

const sum = (costs: readonly TestCost[], what: 'tests' | 'cpuSeconds' | 'clockSeconds' | Borrowable): number =>
  costs.reduce((all, cost) => all + (cost[what] ?? 0), 0);

const seconds = (value: number): string => value.toFixed(0);

const line = ([first, ...others]: readonly (string | number)[]): string =>
  `${String(first).padEnd(26)}${others.map((text) => String(text).padStart(9)).join('')}`;
