import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';

/** Migrations stay as they were released, and files `.d.ts` are generated. */
const sources = globSync('{apps,bench,cli,libs,packages,services,tests}/**/*.{ts,tsx}', {
  cwd: repository,
  exclude: [
    '**/{node_modules,dist}/**',
    '**/*.d.ts',
    'services/subscription-api/migrations/**',
    'tests/repository/words.test.ts',
    'tests/alerts/**',
  ],
});

const lines = sources.flatMap((path) =>
  readFileSync(join(repository, path), 'utf8')
    .split('\n')
    .map((line, index) => ({ line, at: `${path}:${index + 1}` })),
);

const linesWith = (pattern: RegExp): string[] =>
  lines.filter(({ line }) => pattern.test(line)).map(({ line, at }) => `${at}: ${line.trim()}`);

describe('code uses words that can be looked up', () => {
  test.each([
    ['fix, repair or restore', /\bmend(s|ed|ing)?\b/i],
    ['again, or replaced', /\banew\b/i],
    ['without success, or failed', /\bin vain\b/i],
    ['request, or wanted', /\bwish(es|ed)?\b/i],
    ['at fault, or suspected', /\bblam(e|es|ing)\b/i],
    ['fault, or a thing of its own', /\baffairs?\b/i],
    ['ignore, or use', /\bheed(s|ed)?\b/i],
    ['slowly, or step by step', /\bby and by\b/i],
  ])('%s', (_instead, pattern) => {
    expect(linesWith(pattern)).toEqual([]);
  });
});

test('a comment begins with the thing or a verb', () => {
  expect(linesWith(/^\s*(?:\/\*\*?|\/\/) (?:Of|Who|Whom|Whose|Where|By|What|Which|Those|Whatever) (?!RFC)/)).toEqual(
    [],
  );
});
