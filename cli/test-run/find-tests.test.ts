import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests, selectTests, type TestFile } from './find-tests.ts';

const aTest = (path: string, needsServers = false): TestFile => ({
  path,
  needsServers,
  isSlow: path.endsWith('.slow.test.ts'),
});
const all = [
  aTest('libs/line/topology.test.ts'),
  aTest('libs/line/broker.test.ts', true),
  aTest('tests/line/promises.test.ts'),
  aTest('tests/line/patience.slow.test.ts'),
  aTest('tests/system/callbacks.test.ts', true),
  aTest('tests/system/schedule.slow.test.ts', true),
];
const chosen = (...words: string[]) => selectTests(all, words).map(({ path }) => path);

describe('selectTests', () => {
  test('takes all when nothing is asked for', () => {
    expect(chosen()).toHaveLength(all.length);
  });

  test('"line" is what is quick and needs no servers', () => {
    expect(chosen('line')).toEqual(['libs/line/topology.test.ts', 'tests/line/promises.test.ts']);
  });

  test('"system" is what runs real processes, "slow" what takes minutes', () => {
    expect(chosen('system')).toEqual(['tests/system/callbacks.test.ts', 'tests/system/schedule.slow.test.ts']);
    expect(chosen('slow')).toEqual(['tests/line/patience.slow.test.ts', 'tests/system/schedule.slow.test.ts']);
  });

  test('anything else is part of a path', () => {
    expect(chosen('./libs/line/', 'schedule')).toEqual([
      'libs/line/topology.test.ts',
      'libs/line/broker.test.ts',
      'tests/system/schedule.slow.test.ts',
    ]);
  });
});

describe('findTests', () => {
  test('knows which tests of this repository need servers, and this one not', () => {
    const found = new Map(findTests(repository).map((file) => [file.path, file]));
    expect(found.get('cli/test-run/find-tests.test.ts')).toMatchObject({ needsServers: false, isSlow: false });
    expect(found.get('libs/stack/servers.test.ts')).toMatchObject({ needsServers: true });
  });
});
