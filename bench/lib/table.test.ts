import { describe, expect, test } from '@jest/globals';
import { formatCell, formatTable } from './report.ts';

describe('formatTable', () => {
  test('aligns text to the left and figures to the right, as Markdown', () => {
    const rows = [
      ['waybell', 2_661.4],
      ['bare', 5],
    ];
    expect(formatTable({ title: 'Rates', columns: ['', 'a second'], rows })).toBe(
      [
        '**Rates**',
        '',
        '|         | a second |',
        '|---------|---------:|',
        '| waybell |    2,661 |',
        '| bare    |        5 |',
      ].join('\n'),
    );
  });
});

describe('formatCell', () => {
  test.each([
    [0.754_3, '0.75'],
    [12.34, '12.3'],
    [1_234.5, '1,235'],
    [Number.NaN, '–'],
    [{ median: 3, min: 1, max: 10 }, '3 (1–10)'],
    [{ median: 3, min: 3, max: 3 }, '3'],
  ])('shows %p as %s', (cell, shown) => {
    expect(formatCell(cell)).toBe(shown);
  });
});
