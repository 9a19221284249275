import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitEvents } from './split-events.ts';

const split = (text: string) =>
  splitEvents(Buffer.from(text)).events.map(({ line, bytes }) => [line, bytes.toString()]);
const misplaced = (text: string) => splitEvents(Buffer.from(text)).misplaced.map(({ line, detail }) => [line, detail]);

const PRETTY = '{\n  "a": 12345678901234567890.10,\n  "b": [\n    "}"\n  ]\n}';

describe('splitEvents', () => {
  test.each<[rule: string, text: string, events: [number, string][]]>([
    [
      'ends the last line with or without a newline',
      '{"a":1}\n{"b":2}',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      'numbers lines as an editor does, blank ones included',
      '\n \n{}\n\n{}\n',
      [
        [3, '{}'],
        [5, '{}'],
      ],
    ],
    [
      'takes line ends of Windows',
      '{}\r\n{"a":1}\r\n',
      [
        [1, '{}'],
        [2, '{"a":1}'],
      ],
    ],
    [
      'takes events over several lines as they are written, at the line that they begin on',
      `${PRETTY}\n\n${PRETTY}{}`,
      [
        [1, PRETTY],
        [8, PRETTY],
        [13, '{}'],
      ],
    ],
    [
      'takes the items of an array',
      `[${PRETTY}, {"b": "]"},\n 7]\n[]\n{}`,
      [
        [1, PRETTY],
        [6, '{"b": "]"}'],
        [7, '7'],
        [9, '{}'],
      ],
    ],
    [
      'loses no more than one event by each that does not end',
      '{"a":"x\n{"b":[1}\n{"c":"\\"}\n{"d":4}\n{"e":{\n',
      [
        [1, '{"a":"x'],
        [2, '{"b":[1}'],
        [3, '{"c":"\\"}'],
        [4, '{"d":4}'],
        [5, '{"e":{\n'],
      ],
    ],
    [
      'ends an item that does not end where its array does',
      '[{"a":1, "b":[2]]\n{"c":3}',
      [
        [1, '{"a":1, "b":[2]'],
        [2, '{"c":3}'],
      ],
    ],
    ['takes a line of anything else whole', 'guid, action', [[1, 'guid, action']]],
    ['finds nothing in nothing', '', []],
  ])('%s', (_rule, text, events) => {
    expect(split(text)).toEqual(events);
    expect(misplaced(text)).toEqual([]);
  });

  test.each([
    ['an array without an end', '\n[\n{},\n{}\n', [[5, 'the array that begins on line 2 has no closing bracket']]],
    ['an array that is cut after a comma', '[{},\n', [[2, 'the array that begins on line 1 has no closing bracket']]],
    ['a comma too many', '[{},\n]', [[2, 'an event is expected']]],
    ['a comma that is missing', '[{}\n{}]', [[2, 'a comma is expected']]],
  ])('says where %s is', (_what, text, places) => {
    expect(misplaced(text)).toEqual(places);
  });

  test('keeps bytes that are not UTF-8', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(splitEvents(Buffer.concat([bytes, Buffer.from('\n')])).events).toEqual([{ line: 1, bytes }]);
  });

  test('finds the same events however they are laid out', () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 });
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 2, '\t'), (events, indent) => {
        const texts = events.map((event) => JSON.stringify(event, null, indent));
        expect(split(texts.join('\n')).map(([, text]) => text)).toEqual(texts);
        expect(split(`[${texts.join(' ,\n')} ]`).map(([, text]) => text)).toEqual(texts);
      }),
    );
  });

  test('comes to an end with any text, and says of each character but white space what it is part of', () => {
    const text = fc.array(fc.constantFrom(...'{}[],:"\\\n a1'.split(''))).map((characters) => characters.join(''));
    fc.assert(
      fc.property(text, (file) => {
        const outside = split(file).reduce((rest, [, event]) => rest.replace(String(event), ''), file);
        expect(outside).toMatch(/^[\s,[\]]*$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
