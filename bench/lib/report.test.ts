import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { COLUMNS, formatCell, formatJson, formatTable, isMet } from './report.ts';

describe('isMet', () => {
  const what = 'a promise';

  test('holds the median of the rounds against the bar, the bar itself included', () => {
    expect(isMet({ what, figure: { median: 0.75, min: 0.5, max: 1 }, bar: { atLeast: 0.75 } })).toBe(true);
    expect(isMet({ what, figure: { median: 0.74, min: 0.5, max: 1 }, bar: { atLeast: 0.75 } })).toBe(false);
    expect(isMet({ what, figure: 2, bar: { atMost: 2 } })).toBe(true);
    expect(isMet({ what, figure: 2.1, bar: { atMost: 2 } })).toBe(false);
  });

  test('counts what was not measured as missed', () => {
    expect(isMet({ what, figure: Number.NaN, bar: { atMost: 2 } })).toBe(false);
    expect(isMet({ what, figure: Number.NaN, bar: { atLeast: 0 } })).toBe(false);
  });
});

describe('formatJson', () => {
  test('keeps what every round gave, be it no number or infinite', () => {
    const rounds = { waybell: [1.5, Number.NaN, Infinity] };
    const scenario = { name: 'F9', workload: 'none', settings: {}, rounds, tables: [], checks: [] };
    const machine = { cpu: 'some', cores: 1, memoryGib: 1, kernel: 'Linux' };
    const versions = { node: '1', rabbitmq: '2', postgres: '3', redis: '4', waybell: '5' };
    const json = formatJson({ beganAt: 'now', isQuick: true, machine, versions, scenarios: [scenario] });
    expect(JSON.parse(json)).toMatchObject({ scenarios: [{ rounds: { waybell: [1.5, 'NaN', 'Infinity'] } }] });
  });
});

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

test('every column that a table has is explained by --help', () => {
  const bench = join(import.meta.dirname, '..');
  const sources = globSync('{lib,scenarios}/*.ts', { cwd: bench, exclude: (path) => path.includes('.test.') });
  const lists = sources.flatMap((path) => [
    ...readFileSync(join(bench, path), 'utf8').matchAll(/columns: \[([^\]]*)\]/g),
  ]);
  const names = new Set(lists.flatMap(([, list = '']) => [...list.matchAll(/'([^']*)'/g)].map(([, name]) => name)));
  const explained = Object.keys(COLUMNS).join(', ').split(', ');
  expect(names.size).toBeGreaterThan(30);
  expect(
    [...names].filter(
      (name) =>
        !name
          ?.replace(/, ms$/, '')
          .split(', ')
          .every((part) => explained.includes(part)),
    ),
  ).toEqual([]);
});
