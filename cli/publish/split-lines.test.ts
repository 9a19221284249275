import { describe, expect, test } from '@jest/globals';
import { lineRanges, splitLines } from './split-lines.ts';

const split = (text: string) => splitLines(Buffer.from(text)).map(({ number, bytes }) => [number, bytes.toString()]);

describe('splitLines', () => {
  test.each([
    [
      'ends its last line with or without a newline',
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
      '{}\r\n[]\r\n',
      [
        [1, '{}'],
        [2, '[]'],
      ],
    ],
    ['finds nothing in nothing', '', []],
  ])('%s', (_rule, text, lines) => {
    expect(split(text)).toEqual(lines);
  });

  test('keeps bytes that are not UTF-8', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(splitLines(Buffer.concat([bytes, Buffer.from('\n')]))).toEqual([{ number: 1, bytes }]);
  });
});

describe('lineRanges', () => {
  test.each([
    [[], ''],
    [[4], '4'],
    [[1, 2, 3, 7, 9, 10], '1-3, 7, 9-10'],
  ])('writes %j as "%s"', (numbers, text) => {
    expect(lineRanges(numbers)).toBe(text);
  });
});
