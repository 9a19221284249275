import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isOnOneLine, withoutBlanks } from './json-text.ts';

describe('withoutBlanks', () => {
  test('leaves every digit and every sign of a string as it is', () => {
    const text = '{\n  "price": 12345678901234567890.10,\n  "said \\" so": " a : 1 , \\\\"\n}';
    expect(withoutBlanks(text)).toBe('{"price":12345678901234567890.10,"said \\" so":" a : 1 , \\\\"}');
  });

  test('makes of any JSON laid out what it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', '  ', '\t'), (value, indent) => {
        expect(withoutBlanks(JSON.stringify(value, undefined, indent))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('leaves what is no JSON as it is', () => {
    expect(withoutBlanks('{ "a": 1,\n }')).toBe('{ "a": 1,\n }');
  });
});

describe('isOnOneLine', () => {
  test.each([
    ['{"a":1}\n', true],
    ['{\n"a":1}', false],
    ['{"a":', false],
  ])('of %j is %p', (body, expected) => {
    expect(isOnOneLine(body)).toBe(expected);
  });
});
