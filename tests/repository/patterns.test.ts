import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { repository } from '@waybell/stack/stack-folder';
import { checkSync } from 'recheck';

type Pattern = { source: string; flags: string };

const TESTS = /^tests\/|\.test\.ts$|\/testing\//;
/** Files that read nothing but this repository. */
const OWN_TEXT = 'cli/{docs,test-run}/**';
/** All that runs on text from outside. */
const sources = globSync('{cli,libs,services}/**/*.ts', { cwd: repository, exclude: ['**/node_modules/**', OWN_TEXT] });

/** Each regular expression that is written down there, and once. */
function patternsIn(paths: readonly string[]): Pattern[] {
  const found = new Map<string, Pattern>();
  for (const path of paths) {
    const program: unknown = parseSync(readFileSync(join(repository, path), 'utf8'), {
      syntax: 'typescript',
      target: 'esnext',
    });
    for (const node of nodesIn(program)) {
      const { type, pattern, flags } = node as { type?: unknown; pattern: string; flags: string };
      if (type === 'RegExpLiteral') found.set(`/${pattern}/${flags}`, { source: pattern, flags });
    }
  }
  return [...found.values()];
}

function nodesIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(nodesIn)];
}

/** A repetition without an end, or of a group: what has neither looks only so far from each place. */
const FAR = /[*+]|,\}|\)\{/;

/** No clock decides: automata tell for sure, and where a pattern is beyond them, what is tried is bounded by steps alone. */
function statusOf({ source, flags }: Pattern): string {
  const { status } = checkSync(source, flags, { checker: 'automaton', timeout: null });
  if (status !== 'unknown') return status;
  return checkSync(source, flags, { timeout: null, attackTimeout: null, incubationTimeout: null }).status;
}

/** Patterns that were proven safe, in their order. To prove one takes up to seconds, and always ends alike. */
const PROVEN = join(repository, 'tests', 'repository', 'proven-patterns.txt');

describe('a text from outside', () => {
  const patterns = patternsIn(sources.filter((path) => !TESTS.test(path))).filter(({ source }) => FAR.test(source));
  const written = patterns.map(({ source, flags }) => `/${source}/${flags}`).toSorted();
  const proven = readFileSync(PROVEN, 'utf8').trimEnd().split('\n');

  test('costs each pattern time as it is long, and not by its square', () => {
    expect(patterns.length).toBeGreaterThan(50);
    const isProven = ({ source, flags }: Pattern) => proven.includes(`/${source}/${flags}`);
    // Random tests prove all of them once more.
    const tried = patterns.filter((pattern) => process.env['TEST_RUNS'] !== '1' || !isProven(pattern));
    expect(tried.filter((pattern) => statusOf(pattern) !== 'safe')).toEqual([]);
  });

  test('meets the patterns that were proven, and no others: what the test above has proven is added to the file', () => {
    expect(proven).toEqual(written);
  });

  test('would be seen to cost more', () => {
    const bearer = String.raw`^bearer(?: +(.*?))? *$`;
    expect(statusOf({ source: bearer, flags: 'i' })).toBe('vulnerable');
  });
});
