import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests } from './find-tests.ts';
import { describeCosts, folderOf, overBudget, readBudgets, type TestCost } from './test-costs.ts';

const aCost = (path: string, what: Partial<TestCost> = {}): TestCost => ({
  path,
  tests: 2,
  cpuSeconds: 1,
  clockSeconds: 4,
  servers: 0,
  ...what,
});

describe('what a run took', () => {
  const costs = [
    aCost('libs/line/once.test.ts'),
    aCost('libs/line/broker/publisher.test.ts', { servers: 1 }),
    aCost('cli/print.test.ts'),
  ];

  test('is told by folder, the longest first, and of all with what the run lends', () => {
    expect(describeCosts(costs, 30).map((line) => line.split(/ {2,}/))).toEqual([
      ['folder', 'files', 'tests', 'CPU s', 'clock s', 'servers'],
      ['libs/line', '2', '4', '2', '8', '1'],
      ['cli', '1', '2', '1', '4', '0'],
      ['all, with what is lent', '3', '6', '30', '12', '1'],
    ]);
  });

  test('names the folders that took more than they may', () => {
    const budgets = new Map([['libs/line', { cpuSeconds: 2, clockSeconds: 7 }]]);
    expect(overBudget(costs, budgets)).toEqual([
      'over its budget: libs/line takes 8 s of the clock, of 7',
      'over its budget: cli takes 1 s of CPU, of 0',
      'over its budget: cli takes 4 s of the clock, of 0',
    ]);
  });
});

test('each folder that has tests in the gate has a budget, and no other', () => {
  const gate = findTests(repository).filter(({ suite }) => suite === 'gate');
  expect([...readBudgets().keys()].toSorted()).toEqual([...new Set(gate.map(({ path }) => folderOf(path)))].toSorted());
});
