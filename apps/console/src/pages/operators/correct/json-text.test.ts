import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { placesIn, isOnOneLine, withoutBlanks } from './json-text.ts';

const EVENT = `{
  "action": "order.paid",
  "payload": {
    "a/b": 1.0,
    "vehicles": [
      { "vin": "1" },
      {
        "vin": "2",
        "price": 12345678901234567890
      }
    ]
  }
}`;

describe('placesIn', () => {
  test.each([
    ['#', 1],
    ['#/action', 2],
    ['#/payload', 3],
    ['#/payload/a~1b', 4],
    ['#/payload/vehicles/0/vin', 6],
    ['#/payload/vehicles/1', 7],
    ['#/payload/vehicles/1/price', 9],
  ])('finds %s', (pointer, line) => {
    expect(placesIn(EVENT, pointer)).toEqual({ line, brokenLine: undefined });
  });

  test('leads to the nearest place around what is not there', () => {
    expect(placesIn(EVENT, '#/payload/vehicles/1/missing/deep').line).toBe(7);
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": 1,\n}', 3],
    ['{\n  "a": tru\n}', 2],
    ['{\n  "a": "never ends\n}', 2],
    ['[1,\n2]\n]', 3],
    ['{\n  "a": [1\n', 2],
  ])('says where %j stops being JSON', (text, line) => {
    expect(placesIn(text, '#').brokenLine).toBe(line);
  });

  test('takes for JSON what JSON.parse takes, and nothing else', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '}', '[', '0', '\\'), (json, place, typed) => {
        const at = place % (json.length + 1);
        const text = `${json.slice(0, at)}${typed}${json.slice(at)}`;
        expect(placesIn(text, '#').brokenLine === undefined).toBe(isJson(text));
      }),
    );
  });

  test('reads what is nested deeper than a stack of calls', () => {
    const depth = 200_000;
    expect(placesIn(`${'['.repeat(depth)}\n${']'.repeat(depth)}`, '#/0/0')).toEqual({ line: 1, brokenLine: undefined });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

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
