import { describe, expect, test } from '@jest/globals';
import { lineRanges } from './publish.ts';

describe('lineRanges', () => {
  test.each([
    [[], ''],
    [[4], '4'],
    [[1, 2, 3, 7, 9, 10], '1-3, 7, 9-10'],
    [[1, 1, 3, 3], '1, 3'],
  ])('writes %j as "%s"', (numbers, text) => {
    expect(lineRanges(numbers)).toBe(text);
  });
});
