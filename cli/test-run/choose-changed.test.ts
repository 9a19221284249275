import { describe, expect, test } from '@jest/globals';
import { chooseChanged, type Choose } from './choose-changed.ts';
import type { TestFile } from './find-tests.ts';

const aTest = (path: string, what: Partial<TestFile> = {}): TestFile => ({
  path,
  suite: 'gate',
  needs: 'nothing',
  opensBrowser: false,
  ...what,
});

/** How far each test is from each file. */
const DISTANCES: Record<string, Record<string, number>> = {
  'near.test.ts': { 'near.ts': 1 },
  'far.test.ts': { 'near.ts': 3, 'far.ts': 1 },
  'system.test.ts': { 'near.ts': 12, 'far.ts': 12, 'main.ts': 11 },
  'near.long.test.ts': { 'near.ts': 1 },
  'texts.test.ts': { 'main.ts': 10 },
};

const choose = (changed: string[], what: Partial<Choose> = {}) => {
  const { chosen, left } = chooseChanged({
    changed,
    tests: [
      aTest('system.test.ts', { needs: 'a stack' }),
      aTest('far.test.ts'),
      aTest('near.test.ts'),
      aTest('near.long.test.ts', { suite: 'long' }),
      aTest('texts.test.ts'),
    ],
    graph: { reach: (path) => new Map(Object.entries(DISTANCES[path] ?? {})) },
    secondsOf: () => undefined,
    ...what,
  });
  return [chosen, left].map((some) => some.map(({ path }) => path));
};

describe('of the tests of the gate that see a change', () => {
  test('those run for which there is time, the nearest first', () => {
    expect(choose(['near.ts'], { limitSeconds: 30 })).toEqual([['near.test.ts', 'far.test.ts'], ['system.test.ts']]);
    expect(choose(['near.ts'], { limitSeconds: 90 })).toEqual([['near.test.ts', 'far.test.ts', 'system.test.ts'], []]);
    expect(choose(['near.ts', 'far.ts'], { limitSeconds: 0.7 })[0]).toEqual(['far.test.ts']);
  });

  test('a slow one is left where it was seen to be slow, and a quick one is not', () => {
    const secondsOf = (path: string) => (path === 'near.test.ts' ? 100 : 2);
    expect(choose(['far.ts', 'near.ts'], { limitSeconds: 30, secondsOf })[1]).toEqual(['near.test.ts']);
  });

  test('the first one runs, however long it takes', () => {
    expect(choose(['far.ts'], { limitSeconds: 0.1 })[0]).toEqual(['far.test.ts']);
  });

  test('those that run a whole stack come before those that name the file alone', () => {
    expect(choose(['main.ts'], { limitSeconds: 1 })).toEqual([['system.test.ts'], ['texts.test.ts']]);
    expect(choose(['main.ts'], { limitSeconds: 61 })).toEqual([['system.test.ts', 'texts.test.ts'], []]);
  });

  test('none runs where nothing sees it', () => {
    expect(choose(['elsewhere.md'])).toEqual([[], []]);
  });
});
