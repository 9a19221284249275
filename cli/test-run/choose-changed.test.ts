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

const SYSTEM = 'tests/system/system.test.ts';
const TEXTS = 'tests/repository/texts.test.ts';
const CLIENTS = 'tests/console/clients.test.ts';
const OPERATORS = 'tests/console/operators.test.ts';
const CHART = 'tests/helm/chart.test.ts';

/** How far each test is from each file. */
const DISTANCES: Record<string, Record<string, number>> = {
  'near.test.ts': { 'near.ts': 1 },
  'far.test.ts': { 'near.ts': 3, 'far.ts': 1, 'beside.ts': 1 },
  'beside.test.ts': { 'beside.ts': 1 },
  [SYSTEM]: { 'near.ts': 12, 'far.ts': 12, 'main.ts': 11, 'apps/console/src/page.tsx': 22 },
  'near.long.test.ts': { 'near.ts': 1 },
  'named.test.ts': { 'main.ts': 10 },
  [TEXTS]: { 'main.ts': 10, 'alone.ts': 10, 'settings.json': 10 },
};

const choose = (changed: string[], what: Partial<Choose> = {}) => {
  const { chosen, left, unopened } = chooseChanged({
    changed,
    tests: [
      aTest(SYSTEM, { needs: 'a stack' }),
      aTest(CLIENTS, { needs: 'a stack', opensBrowser: true }),
      aTest(OPERATORS, { needs: 'a stack', opensBrowser: true }),
      aTest(TEXTS),
      aTest(CHART),
      aTest('far.test.ts'),
      aTest('near.test.ts'),
      aTest('beside.test.ts'),
      aTest('near.long.test.ts', { suite: 'long' }),
      aTest('named.test.ts'),
    ],
    graph: {
      reach: (path) => new Map(Object.entries(DISTANCES[path] ?? {})),
      doesSomething: (path) => path !== 'page.md',
    },
    secondsOf: () => undefined,
    ...what,
  });
  return [...[chosen, left].map((some) => some.map(({ path }) => path)), unopened];
};

describe('of the tests of the gate that see a change', () => {
  test('those run for which there is time, the nearest first', () => {
    expect(choose(['near.ts'], { limitSeconds: 30 })).toEqual([['near.test.ts', 'far.test.ts'], [SYSTEM], []]);
    expect(choose(['near.ts'], { limitSeconds: 90 })).toEqual([['near.test.ts', 'far.test.ts', SYSTEM], [], []]);
  });

  test('the one beside a file comes before another that imports it as well', () => {
    expect(choose(['beside.ts'])[0]).toEqual(['beside.test.ts', 'far.test.ts']);
  });

  test('each changed file gets its best before any gets a second', () => {
    expect(choose(['near.ts', 'beside.ts'], { limitSeconds: 1 })[0]).toEqual(['near.test.ts', 'beside.test.ts']);
  });

  test('a slow one is left where it was seen to be slow, and a quick one is not', () => {
    const secondsOf = (path: string) => (path === 'near.test.ts' ? 100 : 2);
    expect(choose(['far.ts', 'near.ts'], { limitSeconds: 30, secondsOf })[1]).toEqual(['near.test.ts']);
  });

  test('the first one runs, however long it takes', () => {
    expect(choose(['far.ts'], { limitSeconds: 0.1 })[0]).toEqual(['far.test.ts']);
  });

  test('those that run a whole stack come before those that name the file alone, and those of texts last', () => {
    expect(choose(['main.ts'], { limitSeconds: 1 })).toEqual([[SYSTEM], ['named.test.ts', TEXTS], []]);
    expect(choose(['main.ts'], { limitSeconds: 61 })).toEqual([[SYSTEM, 'named.test.ts', TEXTS], [], []]);
  });

  test('a page is opened in a browser, and the chart rendered, whatever they are read by', () => {
    expect(choose(['apps/console/src/page.tsx'])).toEqual([[CLIENTS], [OPERATORS], []]);
    expect(choose(['apps/console/src/operators/stops/page.tsx'])).toEqual([[OPERATORS], [CLIENTS], []]);
    expect(choose(['deploy/helm/waybell/templates/jobs.yaml'])).toEqual([[CHART], [], []]);
  });

  test('none runs where nothing sees it', () => {
    expect(choose(['elsewhere.md'])).toEqual([[], [], ['elsewhere.md']]);
  });
});

describe('of the changed files those are named', () => {
  test('which no test opens but one that reads it as one of many: code, and not what is read as a text', () => {
    expect(choose(['alone.ts'])).toEqual([[TEXTS], [], ['alone.ts']]);
    expect(choose(['settings.json'])).toEqual([[TEXTS], [], []]);
  });

  test('whose tests are left to the gate', () => {
    expect(choose(['near.ts', 'main.ts'], { limitSeconds: 1 })[2]).toEqual(['main.ts']);
  });

  test('that do something: no page that people read', () => {
    expect(choose(['page.md'])[2]).toEqual([]);
  });
});
