import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { allFaults } from './all-faults.ts';
import { FAULT_TEXTS, lineOf } from './fault-texts.ts';
import { GUARANTEES, rowsOf, tableOf, withFigures } from './guarantees-table.ts';

const rows = rowsOf(readFileSync(join(repository, GUARANTEES), 'utf8'));

describe('the table of guarantees', () => {
  test('has the rows of the bench, and each is brought about', () => {
    expect(rows.map(([line, text]) => [line, text])).toEqual(Object.entries(FAULT_TEXTS));
    expect(new Set(allFaults.map(({ row }) => lineOf(row)))).toEqual(new Set(Object.keys(FAULT_TEXTS)));
  });

  test.each(rows)('row %s, %s, lost nothing: %s', (_row, _text, lost, ...figures) => {
    expect(lost).toBe('0·0');
    for (const figure of figures) expect(figure).toMatch(/^[\d,.]+·[\d,.]+$|^–·–$/);
  });
});

describe('figures of a run', () => {
  const page = [
    '# Guarantees',
    '| | Fault | Lost | Repeated | Late, s |',
    '|---|---|---|---|---|',
    `| L1 | ${FAULT_TEXTS.L1} | 0·0 | 1·2 | 3.0·4.0 |`,
    '| L24 | as it was | 0 | 8 | |',
    '| Cause | Repeats |',
  ].join('\n');
  const figures = { lost: '1', repeated: '1,114', late: '2.6' };

  test('take the place of those of their version, and leave those of the other', () => {
    const put = (version: '3.10' | '4.0') => withFigures(page, version, new Map([['L1', figures]]));
    expect(put('3.10')).toBe(page.replace('0·0 | 1·2 | 3.0·4.0', '1·0 | 1,114·2 | 2.6·4.0'));
    expect(put('4.0')).toBe(page.replace('0·0 | 1·2 | 3.0·4.0', '0·1 | 1·1,114 | 3.0·2.6'));
  });

  test('say where nothing was measured', () => {
    const row = `| L24 | ${FAULT_TEXTS.L24} | 0·1 | 8·1,114 | –·– |`;
    expect(withFigures(page, '4.0', new Map([['L24', { ...figures, late: '' }]])).split('\n')).toContain(row);
  });

  test('are printed for the rows that were tried', () => {
    expect(tableOf(page, ['L24'])).toEqual([...page.split('\n').slice(1, 3), page.split('\n')[4]]);
  });
});
