import { describe, expect, test } from '@jest/globals';
import { failuresInARow, restartDelayMs } from './supervised-process.ts';

describe('restartDelayMs', () => {
  test('begins at 0.2 s, doubles, and stays at 10 s', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((failures) => restartDelayMs(failures, 'backed off'));
    expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  });

  test('stays at 1 s where it is to be soon', () => {
    expect([1, 3, 4, 50].map((failures) => restartDelayMs(failures, 'soon'))).toEqual([200, 800, 1_000, 1_000]);
  });
});

describe('failuresInARow', () => {
  test('counts runs that end early', () => {
    expect(failuresInARow({ before: 3, ranMs: 29_999 })).toBe(4);
  });

  test('forgets them once a run has lasted 30 s', () => {
    expect(failuresInARow({ before: 3, ranMs: 30_000 })).toBe(1);
  });
});
