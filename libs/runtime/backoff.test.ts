import { describe, expect, test } from '@jest/globals';
import { backoffMs, jitteredBackoffMs } from './backoff.ts';

const BACKOFF = { firstMs: 50, longestMs: 1_000 };

describe('backoffMs', () => {
  test('doubles with each failure in a row, up to the longest pause', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 2_000].map((failures) => backoffMs(BACKOFF, failures))).toEqual([
      50, 100, 200, 400, 800, 1_000, 1_000, 1_000,
    ]);
  });
});

describe('jitteredBackoffMs', () => {
  test('spreads evenly between nothing and the exact pause', () => {
    const pauses = Array.from({ length: 1_000 }, () => jitteredBackoffMs(BACKOFF, 3));
    expect(pauses.every((pause) => pause >= 0 && pause < 200)).toBe(true);
    for (const from of [0, 50, 100, 150]) {
      expect(pauses.filter((pause) => pause >= from && pause < from + 50).length).toBeGreaterThan(150);
    }
  });
});
