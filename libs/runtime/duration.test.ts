import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration, parseDurationMs } from './duration.ts';

describe('parseDurationMs', () => {
  test.each([
    ['250ms', 250],
    ['4s', 4_000],
    ['1m', 60_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['1.5s', 1_500],
    [' 2s ', 2_000],
    ['0s', 0],
  ])('reads "%s" as %d', (text, durationMs) => {
    expect(parseDurationMs(text)).toBe(durationMs);
  });

  test.each(['', '4', 's', '-1s', '1 s', '1w', '1e3s', '.5s', '1s2m'])(
    'refuses "%s", saying how to write it',
    (text) => {
      expect(() => parseDurationMs(text)).toThrow(/is not a duration: write a number and a unit/);
    },
  );
});

describe('formatDuration', () => {
  test.each([
    [0, '0ms'],
    [250, '250ms'],
    [1_000, '1s'],
    [60_000, '1m'],
    [90_000, '90s'],
    [86_400_000, '1d'],
  ])('writes %d as %s', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });

  test('writes what is read back as the same', () => {
    expect(() =>
      fc.assert(fc.property(fc.nat(), (durationMs) => parseDurationMs(formatDuration(durationMs)) === durationMs)),
    ).not.toThrow();
  });
});
