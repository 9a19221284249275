import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeJson } from './write-json.ts';

describe('writeJson', () => {
  test('writes objects over lines, and plain arrays on one while they fit in 120 columns', () => {
    expect(writeJson({ a: ['x', null], b: {}, c: [{ d: 1 }] })).toBe(
      '{\n  "a": ["x", null],\n  "b": {},\n  "c": [\n    {\n      "d": 1\n    }\n  ]\n}\n',
    );
    expect(writeJson(['x'.repeat(117)])).toBe(`[\n  "${'x'.repeat(117)}"\n]\n`);
  });

  test('leaves out what is undefined', () => {
    expect(writeJson({ a: undefined })).toBe('{}\n');
  });

  test('writes what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        expect(JSON.parse(writeJson(value))).toEqual(JSON.parse(JSON.stringify(value))),
      ),
    );
  });
});
