import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests, selectTests, type TestFile } from './find-tests.ts';

const aTest = (path: string, about: Partial<TestFile> = {}): TestFile => ({
  path,
  suite: 'gate',
  needsServers: false,
  ...about,
});
const pure = aTest('libs/line/topology.test.ts');
const served = aTest('tests/system/callbacks.test.ts', { needsServers: true });
const long = aTest('tests/system/schedules.long.test.ts', { suite: 'long', needsServers: true });
const timing = aTest('tests/system/latency.timing.test.ts', { suite: 'timing', needsServers: true });

describe('selectTests', () => {
  test.each([
    [[], [pure, served]],
    [['everything'], [pure, served, long]],
    [['timing'], [timing]],
    [['line'], [pure]],
    [
      ['./libs/line/', 'schedules'],
      [pure, long],
    ],
  ])('%j', (words, expected) => {
    expect(selectTests([pure, served, long, timing], words)).toEqual(expected);
  });
});

describe('findTests', () => {
  test('knows the suite of each test of this repository, and whether it needs servers', () => {
    const found = new Map(findTests(repository).map((file) => [file.path, file]));
    expect(found.get('cli/test-run/find-tests.test.ts')).toEqual(aTest('cli/test-run/find-tests.test.ts'));
    expect(found.get('libs/stack/servers.test.ts')).toMatchObject({ needsServers: true });
    expect(found.get('libs/line/run-step.test.ts')).toMatchObject({ needsServers: true });
  });
});
