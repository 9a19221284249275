import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests, selectTests, type TestFile } from './find-tests.ts';
import { inOrder } from './run-jest.ts';

const aTest = (path: string, about: Partial<TestFile> = {}): TestFile => ({
  path,
  suite: 'gate',
  needs: 'nothing',
  opensBrowser: false,
  ...about,
});
const pure = aTest('libs/line/topology.test.ts');
const served = aTest('libs/delivery-log/write/partitions.postgres.test.ts', { needs: 'servers' });
const breaking = aTest('libs/line/run-step.test.ts', { needs: 'a turn' });
const system = aTest('tests/system/why.test.ts', { needs: 'a stack' });
const long = aTest('tests/system/schedules.long.test.ts', { suite: 'long', needs: 'a stack' });
const apart = aTest('tests/surroundings/surroundings.long.test.ts', { suite: 'long', needs: 'a network' });
const timing = aTest('tests/system/latency.timing.test.ts', { suite: 'timing', needs: 'a stack' });
const all = [served, breaking, pure, system, long, timing];

describe('selectTests', () => {
  test.each([
    [[], [served, breaking, pure, system]],
    [['everything'], [served, breaking, pure, system, long]],
    [['timing'], [timing]],
    [['line'], [pure]],
    [
      ['./libs/line/', 'schedules'],
      [breaking, pure, long],
    ],
  ])('%j', (words, expected) => {
    expect(selectTests(all, words)).toEqual(expected);
  });
});

describe('inOrder', () => {
  test('what takes longest begins first, and what is small ends the run', () => {
    expect(inOrder([apart, served, breaking, pure, long, system])).toEqual(
      [system, long, breaking, pure, served, apart].map(({ path }) => path),
    );
  });
});

describe('findTests', () => {
  test('knows the suite of each test of this repository, and what it needs', () => {
    const found = new Map(findTests(repository).map((file) => [file.path, file]));
    const needs = (path: string) => found.get(path)?.needs;
    expect(found.get('cli/test-run/find-tests.test.ts')).toEqual(aTest('cli/test-run/find-tests.test.ts'));
    expect(found.get('apps/console/src/parts/words.test.ts')?.suite).toBe('gate');
    expect(needs('libs/stack/servers.test.ts')).toBe('servers');
    expect(needs('libs/line/operating/declare.test.ts')).toBe('servers');
    expect(needs('libs/line/run-step.test.ts')).toBe('a turn');
    expect(needs('tests/system/what-people-ask.test.ts')).toBe('a stack');
    expect(needs('tests/console/console.test.ts')).toBe('a stack');
    expect(needs('tests/surroundings/surroundings.long.test.ts')).toBe('a network');
  });

  test('knows which open a browser', () => {
    const paths = findTests(repository).flatMap(({ path, opensBrowser }) => (opensBrowser ? [path] : []));
    expect(paths).toContain('tests/console/console.test.ts');
    const elsewhere = paths.filter((path) => !path.startsWith('tests/console/'));
    expect(elsewhere).toEqual(['tests/docker/docker.long.test.ts']);
  });
});
