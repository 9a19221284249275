import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { Needs, TestFile } from './find-tests.ts';
import { DISTANCE, type ImportGraph } from './import-graph.ts';

/**
 * Tests that can see a change: those to run, nearest first, and those that are left to the gate; and files of the change that no test
 * to run reads but as one of many.
 */
export type TestChoice = { chosen: TestFile[]; left: TestFile[]; unopened: string[] };

export type Choose = {
  /** Files that have changed, by their paths from the root. */
  changed: readonly string[];
  tests: readonly TestFile[];
  graph: Pick<ImportGraph, 'reach' | 'doesSomething'>;
  /** Seconds that a file lasts, where that was measured. */
  secondsOf: (path: string) => number | undefined;
  /** Limit for the chosen tests, one after the other, in seconds; the nearest is chosen however long it is. */
  limitSeconds?: number;
};

type TestCoverage = { test: TestFile; path: string; rank: number; distance: number };

/** On two cores this is over in less than a minute, with the start of servers. */
const LIMIT_SECONDS = 75;

/** Assumed duration of a file that was never measured here. */
const USUAL_SECONDS: Record<Needs, number> = {
  nothing: 0.5,
  servers: 4,
  'a turn': 10,
  'a stack': 60,
  'a network': 300,
};

/** How well a test covers a file, the best first. A test of texts reads the file as one of many, and says little of what it does. */
const RANK = { imported: 0, run: 1, named: 2, text: 3, blind: 4 };
/** Farther away, a test sees a file by chance. */
const FARTHEST = 2 * DISTANCE.named;
const CODE = /\.(?:tsx?|jsx?|sql|css)$/;
export const TEXT_TESTS = /^(?:tests\/(?:repository|mutants)|cli\/(?:docs|lint|test-run))\//;

/** Built, or put into a text, before a test opens it. */
const OPENED: { what: RegExp; isOpenedBy: (test: TestFile) => boolean }[] = [
  { what: /^apps\/console\//, isOpenedBy: ({ opensBrowser }) => opensBrowser },
  { what: /^deploy\/helm\//, isOpenedBy: ({ path }) => path.startsWith('tests/helm/') },
];
/** Each is built as a whole. */
const PACKAGE = /^packages\//;

/**
 * Chooses tests of the gate that depend on the changes, as many as there is time for: for each file the one that covers it best, then
 * others in this order. The test beside it, and those with the fewest imports in between, cover it best. For a program that is run and
 * not imported, these are tests that share a word with it, then those with a whole stack.
 */
export function chooseChanged({ changed, tests, graph, secondsOf, limitSeconds = LIMIT_SECONDS }: Choose): TestChoice {
  const seeing = tests
    .filter(({ suite }) => suite === 'gate')
    .flatMap((test) => {
      const reach = graph.reach(test.path);
      return changed.map((path) => coverageOf(path, test, reach.get(path) ?? Infinity));
    })
    .filter(({ rank }) => rank < RANK.blind)
    .toSorted((one, other) => one.rank - other.rank || one.distance - other.distance);
  // The last that is put there for a file is its best.
  const best = new Map(seeing.toReversed().map(({ path, test }) => [path, test]));
  const inOrder = new Set([...changed.flatMap((path) => best.get(path) ?? []), ...seeing.map(({ test }) => test)]);
  const choice: TestChoice = { chosen: [], left: [], unopened: [] };
  let seconds = 0;
  for (const test of inOrder) {
    const needed = secondsOf(test.path) ?? USUAL_SECONDS[test.needs];
    const fits = choice.chosen.length === 0 || seconds + needed <= limitSeconds;
    if (fits) seconds += needed;
    (fits ? choice.chosen : choice.left).push(test);
  }
  const opened = new Set(
    seeing.filter(({ rank, test }) => rank < RANK.text && choice.chosen.includes(test)).map(({ path }) => path),
  );
  choice.unopened = changed.filter((path) => !opened.has(path) && graph.doesSomething(path));
  return choice;
}

/** A test whose name shares words with the file's counts as nearer. */
function coverageOf(path: string, test: TestFile, away: number): TestCoverage {
  const shared = (parts: number) => {
    const named = wordsOf(test.path, 2);
    return wordsOf(path, parts).filter((word) => named.includes(word)).length;
  };
  const coverage = (rank: number, distance: number) => ({ test, path, rank, distance });
  if (TEXT_TESTS.test(test.path) && CODE.test(path) && dirname(path) !== dirname(test.path))
    return coverage(away < FARTHEST ? RANK.text : RANK.blind, away);
  if (away < DISTANCE.named) return coverage(RANK.imported, away - shared(2));
  const opened = OPENED.find(({ what }) => what.test(path));
  // A page's folders too say whose it is.
  if (opened !== undefined) return coverage(opened.isOpenedBy(test) ? RANK.run : RANK.blind, -shared(Infinity));
  if (PACKAGE.test(path) && test.path.startsWith('tests/packages/')) return coverage(RANK.named, 0);
  if (away >= FARTHEST) return coverage(RANK.blind, away);
  const isWhole = test.needs === 'a stack' && test.path.startsWith('tests/system/');
  const words = shared(2);
  return coverage(isWhole || words > 0 ? RANK.run : RANK.named, away - words * DISTANCE.named);
}

/** Words of its name and of the folders that it is in, as many as wanted. */
const wordsOf = (path: string, parts: number): string[] =>
  path
    .split('/')
    .slice(-parts)
    .join('-')
    .split(/[-.]/)
    .filter((word) => word.length > 2 && word !== 'test');

/** Files that differ from the commit, those that git does not have yet included. Throws where there is no such commit. */
export function changedSince(root: string, commit: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  try {
    git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`);
  } catch (error) {
    throw new Error(`there is no commit ${commit} here: --changed takes one, as HEAD~3 or a branch`, { cause: error });
  }
  const listed = [
    git('diff', '--name-only', '--no-renames', '-z', commit),
    git('ls-files', '--others', '--exclude-standard', '-z'),
  ];
  return [...new Set(listed.join('').split('\0'))].filter((path) => path !== '');
}
