import { describe, expect, test } from '@jest/globals';
import { median, overWindows, percentile, spread, summarise } from './statistics.ts';

const upTo = (last: number) => Array.from({ length: last }, (_, place) => place + 1);

describe('median', () => {
  test('is the middle value, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5);
  });

  test('lies between the two middle values of an even number', () => {
    expect(median([4, 1, 2, 100])).toBe(3);
  });

  test('of nothing is no number', () => {
    expect(median([])).toBeNaN();
  });
});

describe('spread', () => {
  test('has the median between the least and the greatest', () => {
    expect(spread([3, 10, 2])).toEqual({ median: 3, min: 2, max: 10 });
  });
});

describe('percentile', () => {
  test('is a value that was measured, not one between two', () => {
    expect(percentile(upTo(100), 0.99)).toBe(99);
    expect(percentile(upTo(10), 0.99)).toBe(10);
    expect(percentile(upTo(1_000), 0.5)).toBe(500);
  });
});

describe('summarise', () => {
  test('tells where measurements lie, as they came', () => {
    expect(summarise(upTo(200).toReversed())).toEqual({ count: 200, min: 1, p50: 100, p99: 198, max: 200 });
  });

  test('says that there were none', () => {
    expect(summarise([])).toEqual({ count: 0, min: NaN, p50: NaN, p99: NaN, max: NaN });
  });
});

describe('overWindows', () => {
  const calm = summarise([4, 5, 9]);

  test('is not moved by a stall in one window, and tells how long that was', () => {
    const stalled = summarise([5, 100, 200]);
    expect(overWindows([calm, stalled, calm])).toEqual({ windows: 3, p50: 5, p99: 9, longest: 200 });
  });

  test('takes windows in which nothing came for the slowest', () => {
    expect(overWindows([calm, summarise([]), calm])).toEqual({ windows: 3, p50: 5, p99: 9, longest: Infinity });
    expect(overWindows([calm, summarise([]), summarise([])])).toMatchObject({ p50: Infinity, p99: Infinity });
  });
});
