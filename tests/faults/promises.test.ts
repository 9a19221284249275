import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { allFaults } from './all-faults.ts';
import { lineOf, PROMISES } from './promises.ts';

const page = readFileSync(join(repository, 'docs/guarantees.md'), 'utf8');
const rows = [...page.matchAll(/^\| (?<line>[LGD]\d*) \| (?<promise>.+?) \| .* \| (?<at>\S.*?) \|$/gm)].map(
  ({ groups: { line = '', promise = '', at = '' } = {} }) => ({ line, promise, at }),
);

describe('the table of what faults cost', () => {
  test('has the rows that are promised, and each is brought about', () => {
    expect(rows.map(({ line, promise }) => [line, promise])).toEqual(Object.entries(PROMISES));
    expect(new Set(allFaults.map(({ row }) => lineOf(row)))).toEqual(new Set(Object.keys(PROMISES)));
  });

  test.each(rows)('names the commit at which $line was measured', ({ at }) => {
    expect(at).toMatch(/^[0-9a-f]{7,12}(?: · [0-9a-f]{7,12})?$/);
  });
});
