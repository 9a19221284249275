import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Numeric, readExact, toNumber, writeExact } from './exact-json.ts';
import { JsonNumber, isSameNumber, writeJson } from './json.ts';
import { readJson } from './read-json.ts';

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

const DEPTH = 32;
const written = (value: unknown) => {
  const result = writeExact(value, DEPTH);
  return result.kind === 'written' ? result.text : result;
};

class OtherCopy {
  readonly text = '0.10';

  toJSON(): unknown {
    throw new Error('this engine knows no raw JSON');
  }
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
const circular: Record<string, unknown> = {};
circular['self'] = circular;

const HALF = 'must be whole characters, not half of a surrogate pair';

/** Looks like a number from the second time on that it is read. */
function shifting(): string {
  let reads = 0;
  return { toString: () => (reads++ === 0 ? '1 0' : '1') } as never;
}

describe('writeExact', () => {
  test.each<[what: string, value: unknown, text: string]>([
    ['a whole number that no double holds', 9007199254740993n, '9007199254740993'],
    ['a number digit for digit', { price: new JsonNumber('1250.50') }, '{"price":1250.50}'],
    ['a number of another copy of this code', [new OtherCopy()], '[0.10]'],
    ['numbers as JavaScript does', [-0, 1e21, 5e-324], '[0,1e+21,5e-324]'],
    ['a date as its own JSON', [new Date(0)], '["1970-01-01T00:00:00.000Z"]'],
    ['members but those that are undefined', { a: undefined, b: null, __proto__: null }, '{"b":null}'],
    ['a pair of surrogates as it is', { '\u{1f69a}': '\u{1f69a}' }, '{"\u{1f69a}":"\u{1f69a}"}'],
    ['as many levels as may be', nested(DEPTH), '['.repeat(DEPTH) + 1 + ']'.repeat(DEPTH)],
  ])('writes %s', (_what, value, text) => {
    expect(written(value)).toBe(text);
  });

  test.each<[what: string, value: unknown, place: string, reason: string, detail: string]>([
    ['NaN', { a: [1, NaN] }, '/a/1', 'not_json', 'must be a finite number, not NaN'],
    ['a function', { a: () => 1 }, '/a', 'not_json', 'must be a value that JSON has, not function'],
    ['an empty place', [1, undefined], '/1', 'not_json', 'must be a value that JSON has, not undefined'],
    ['digits that are none', { 'a/b': new JsonNumber('01') }, '/a~1b', 'not_json', '"01" is not a number of JSON'],
    ['half of a surrogate pair', ['a\ud800b'], '/0', 'not_utf8', HALF],
    ['half of one in a name', { a: { '': { 'k\udc00': 1 } } }, String.raw`/a//k\\udc00`, 'not_utf8', HALF],
    ['an invalid date', [new Date(NaN)], '/0', 'not_json', 'must be a date, not Invalid Date'],
    ['a Map', { a: new Map([[1, 2]]) }, '/a', 'not_json', 'must be a value that JSON has, not Map'],
    ['a Set', [new Set([1])], '/0', 'not_json', 'must be a value that JSON has, not Set'],
    ['digits that change', [new JsonNumber(shifting())], '/0', 'not_json', '"1 0" is not a number of JSON'],
    ['what is too deep', nested(DEPTH + 1), '/0'.repeat(DEPTH), 'too_deep', 'nesting goes deeper than 32 levels'],
    ['a circle', circular, '/self'.repeat(DEPTH), 'too_deep', 'nesting goes deeper than 32 levels'],
  ])('refuses %s, and says where', (_what, value, place, reason, detail) => {
    expect(written(value)).toEqual({ kind: 'invalid', reason, place, detail: `${place}: ${detail}` });
  });

  test('writes what JSON.stringify writes, where that loses nothing', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(written(value)).toBe(JSON.stringify(value))));
  });

  test('writes again what was read, digit for digit', () => {
    const text = '{"b":[0.10,1e400,-0.0],"a":{"":12345678901234567890}}';
    const reading = readJson(Buffer.from(text), DEPTH);
    const value = reading.kind === 'value' ? reading.value : null;
    expect(written(value)).toBe(text);
    expect(written(value)).toBe(writeJson(value));
  });
});
