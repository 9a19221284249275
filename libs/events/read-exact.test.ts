import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Numeric, readExact, toNumber } from './exact-json.ts';
import { JsonNumber, isSameNumber } from './json.ts';

const read = (text: string) => {
  const reading = readExact(Buffer.from(text), 32);
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  return reading.value;
};

describe('readExact', () => {
  test.each([
    ['0.10', 0.1],
    ['1e3', 1_000],
    ['-0', -0],
    ['9007199254740992', 9_007_199_254_740_992],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-12345678901234567890', -12_345_678_901_234_567_890n],
    ['12345678901234567890.0', 12_345_678_901_234_567_890n],
    ['1.00000000000000000001', new JsonNumber('1.00000000000000000001')],
    ['1e400', 10n ** 400n],
    ['1e-400', new JsonNumber('1e-400')],
    ['1e1000000000', new JsonNumber('1e1000000000')],
  ])('%s is %p', (text, number) => {
    expect(read(text)).toStrictEqual(number);
    expect(read(`{"a":[${text}]}`)).toStrictEqual({ a: [number] });
  });

  test('no digit of any number is lost', () => {
    const numbers = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,3})?$/);
    // It reads a number of any form.
    const isKept = (text: string) => isSameNumber((read(text) as Numeric).toString(), text);
    expect(() => fc.assert(fc.property(numbers, isKept))).not.toThrow();
  });

  test('what it makes of any JSON value can be cloned, and a member named __proto__ is a member', () => {
    expect(structuredClone(read('{ "2": 1, "1": 2 }'))).toEqual({ 1: 2, 2: 1 });
    expect(Object.keys(read('{ "__proto__": 1 }') as object)).toEqual(['__proto__']);
  });

  test('what readJson refuses is refused', () => {
    expect(readExact(Buffer.from('{"a":1,"a":2}'), 32)).toMatchObject({ kind: 'invalid', reason: 'duplicate_key' });
    expect(readExact(Buffer.from('[[[1]]]'), 2)).toMatchObject({ kind: 'invalid', reason: 'too_deep' });
  });
});

describe('toNumber', () => {
  test('is the nearest double', () => {
    expect([1.5, 2n ** 60n + 1n, new JsonNumber('0.1000000000000000000001')].map(toNumber)).toEqual([
      1.5,
      2 ** 60,
      0.1,
    ]);
  });
});
