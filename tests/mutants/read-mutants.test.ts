import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { breakWith, readMutants } from './read-mutants.ts';

test('every mutant applies to the code as it is', () => {
  const gone = readMutants(repository).filter(
    (mutant) => breakWith(mutant, readFileSync(join(repository, mutant.file), 'utf8')) === undefined,
  );
  expect(gone.map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
});
