import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { COLUMNS } from './columns.ts';

const bench = join(import.meta.dirname, '..');

test('every column that a table has is explained by --help', () => {
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
