import { describe, expect, test } from '@jest/globals';
import { isBeyondNext, isLater } from './migrate.ts';

describe('of two releases', () => {
  test.each([
    ['0.10.0', '0.9.9', true],
    ['0.9.1', '0.10.0', false],
    ['1.0.0', '0.20.0', true],
    ['0.2.0', '0.2.0', false],
  ])('%s is later than %s: %s', (release, than, is) => expect(isLater(release, than)).toBe(is));

  test.each([
    ['0.3.0', '0.2.5', false],
    ['0.4.0', '0.2.5', true],
    ['0.2.9', '0.2.0', false],
    ['1.0.0', '0.9.0', false],
    ['1.1.0', '0.9.0', true],
    ['2.0.0', '0.9.0', true],
    ['0.2.0', '0.9.0', false],
  ])('%s after %s skips a version: %s', (release, from, is) => expect(isBeyondNext(release, from)).toBe(is));
});
