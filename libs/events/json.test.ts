import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSameNumber, isWhole } from './json.ts';

describe('isSameNumber', () => {
  test.each([
    ['100', '100.0'],
    ['100', '1e2'],
    ['1E+2', '0.01e4'],
    ['0', '-0.000e99'],
    ['0.10', '0.1'],
    ['-12300', '-1.23e4'],
    ['1e400', '10e399'],
    ['1e99999999999999999999', '10e99999999999999999998'],
  ])('takes %s for %s', (one, other) => {
    expect(isSameNumber(one, other)).toBe(true);
  });

  test.each([
    ['1', '-1'],
    ['9007199254740993', '9007199254740992'],
    ['0.1', '0.10000000000000000001'],
    ['1e400', '1e401'],
    ['1e-400', '0'],
    ['1e99999999999999999999', '1e99999999999999999998'],
    ['101', '11'],
  ])('tells %s from %s', (one, other) => {
    expect(isSameNumber(one, other)).toBe(false);
  });

  test('agrees with exact arithmetic however a number is written', () => {
    const number = fc.record({
      digits: fc.bigInt({ min: -5000n, max: 5000n }),
      exponent: fc.integer({ min: -8, max: 8 }),
    });
    const written = ({ digits, exponent }: { digits: bigint; exponent: number }) => `${digits}e${exponent}`;
    const exact = ({ digits, exponent }: { digits: bigint; exponent: number }) => digits * 10n ** BigInt(exponent + 8);
    fc.assert(
      fc.property(number, number, (one, other) => {
        expect(isSameNumber(written(one), written(other))).toBe(exact(one) === exact(other));
      }),
    );
    fc.assert(
      fc.property(number, fc.integer({ min: 0, max: 12 }), (one, zeros) => {
        const shifted = `${one.digits}.${'0'.repeat(zeros + 1)}e${one.exponent}`;
        const longer = `${one.digits}${'0'.repeat(zeros)}e${one.exponent - zeros}`;
        expect(isSameNumber(written(one), shifted) && isSameNumber(shifted, longer)).toBe(true);
      }),
    );
  });

  // A reader of quadratic time would take 250 billion steps.
  test('comes to an end with long numbers', () => {
    const zeros = '0'.repeat(500_000);
    expect(isSameNumber(`1${zeros}1`, `1${zeros}1.0`)).toBe(true);
    expect(isSameNumber(`1e${'9'.repeat(500_000)}`, `1e${'9'.repeat(499_999)}8`)).toBe(false);
  });
});

describe('isWhole', () => {
  test('goes by value, not by spelling', () => {
    expect(['1.0', '10e-1', '0e-9', '1e400', '-0'].every(isWhole)).toBe(true);
    expect(['0.5', '15e-1', '1e-400'].some(isWhole)).toBe(false);
  });
});
