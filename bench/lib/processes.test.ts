import { describe, expect, test } from '@jest/globals';
import { withDescendants, wakeUpsBetween } from './processes.ts';

describe('withDescendants', () => {
  const processes = new Map([
    [10, { parent: 1 }],
    [11, { parent: 10 }],
    [12, { parent: 11 }],
    [20, { parent: 1 }],
  ]);

  test('adds to the roots of a part what these started, and what that started', () => {
    expect(withDescendants({ postgres: [10], redis: [20] }, processes)).toEqual({
      postgres: [10, 11, 12],
      redis: [20],
    });
  });

  test('leaves out roots that ended', () => {
    expect(withDescendants({ postgres: [9], router: [20, 21] }, processes)).toEqual({ postgres: [], router: [20] });
  });
});

describe('wakeUpsBetween', () => {
  test('adds up the threads of a part, those that began meanwhile included', () => {
    const before = { postgres: new Map([['10/task/10', 100]]), redis: new Map([['20/task/20', 7]]) };
    const after = {
      postgres: new Map([
        ['10/task/10', 130],
        ['11/task/11', 5],
      ]),
      redis: new Map([['20/task/20', 7]]),
    };
    expect(wakeUpsBetween(before, after)).toEqual({ postgres: 35, redis: 0 });
  });

  test('takes nothing off for threads that ended meanwhile', () => {
    const before = {
      postgres: new Map([
        ['10/task/10', 100],
        ['11/task/11', 900],
      ]),
    };
    expect(wakeUpsBetween(before, { postgres: new Map([['10/task/10', 101]]) })).toEqual({ postgres: 1 });
  });
});
