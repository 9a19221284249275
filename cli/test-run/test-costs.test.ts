import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests } from './find-tests.ts';
import { ImportGraph } from './import-graph.ts';
import { describeCosts, folderOf, overBudget, readBudgets, type TestCost } from './test-costs.ts';

const aCost = (path: string, what: Partial<TestCost> = {}): TestCost => ({
  path,
  tests: 2,
  cpuSeconds: 1,
  clockSeconds: 4,
  ...what,
});

const named = (lines: string[]) => lines.map((line) => line.split(/ {2,}/));

test('where the time went is told by folder, the dearest first, those that cost little together, and of all', () => {
  const folders = Array.from({ length: 10 }, (_, place) =>
    aCost(`libs/part-${place}/a.test.ts`, { cpuSeconds: place }),
  );
  const costs = [...folders, aCost('libs/part-9/b.test.ts', { tests: 3 })];
  const told = named(describeCosts(costs, 70));
  expect(told).toHaveLength(12);
  expect(told.filter((_, place) => place < 2 || place > 7)).toEqual([
    ['folder', 'files', 'tests', 'CPU s', 'clock s'],
    ['libs/part-9', '2', '5', '10', '8'],
    ['libs/part-2', '1', '2', '2', '4'],
    ['others', '2', '4', '1', '8'],
    ['all tests', '11', '23', '46', '44'],
    ['and what is lent', '70'],
  ]);
});

test('a run names the folders whose tests of the gate started or borrowed more than they may', () => {
  const costs = [
    aCost('libs/line/once.test.ts', { databases: 2, services: 1 }),
    aCost('libs/line/broker/publisher.test.ts', { databases: 1, vhosts: 3 }),
    aCost('libs/line/broker/killed.long.test.ts', { vhosts: 5 }),
    aCost('cli/print.test.ts', { browsers: 1 }),
  ];
  const budgets = new Map([['libs/line', { files: 2, modules: 9, databases: 2, vhosts: 3, services: 1 }]]);
  expect(overBudget(costs, budgets)).toEqual([
    'over its budget: libs/line takes 3 databases, of 2',
    'over its budget: cli takes 1 browsers, of 0',
  ]);
});

describe('each folder that has tests in the gate', () => {
  const graph = new ImportGraph(repository);
  const gate = findTests(repository, graph).filter(({ suite }) => suite === 'gate');
  const folders = Map.groupBy(gate, ({ path }) => folderOf(path));
  const budgets = readBudgets();

  test('has a budget, and no other', () => {
    expect([...budgets.keys()].toSorted()).toEqual([...folders.keys()].toSorted());
  });

  test.each([...folders])('%s has the files that its budget says, and loads no more modules', (folder, files) => {
    const modules = new Set(files.flatMap(({ path }) => [...graph.importsOf(path)]));
    expect({ folder, files: files.length }).toEqual({ folder, files: budgets.get(folder)?.files });
    expect(modules.size).toBeLessThanOrEqual(budgets.get(folder)?.modules ?? 0);
  });
});
