import { execFileSync } from 'node:child_process';
import type { Needs, TestFile } from './find-tests.ts';
import { DISTANCE, type ImportGraph } from './import-graph.ts';

/** Tests that can see a change: those to run, nearest first, and those that are left to the gate. */
export type TestChoice = { chosen: TestFile[]; left: TestFile[] };

export type Choose = {
  /** Files that have changed, by their paths from the root. */
  changed: readonly string[];
  tests: readonly TestFile[];
  graph: Pick<ImportGraph, 'reach'>;
  /** Seconds that a file takes, where that was measured. */
  secondsOf: (path: string) => number | undefined;
  /** Limit for the chosen tests, one after the other, in seconds; the nearest is chosen whatever it takes. */
  limitSeconds?: number;
};

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

/**
 * Chooses tests of the gate that depend on the changes, as many as there is time for: first those with the fewest imports in
 * between, which cover the change best. For a program that is run and not imported, tests with a whole stack cover most.
 */
export function chooseChanged({ changed, tests, graph, secondsOf, limitSeconds = LIMIT_SECONDS }: Choose): TestChoice {
  const seeing = tests
    .filter(({ suite }) => suite === 'gate')
    .map((test) => {
      const reach = graph.reach(test.path);
      return { test, distance: Math.min(...changed.map((path) => reach.get(path) ?? Infinity)) };
    })
    .filter(({ distance }) => distance < Infinity)
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.distance - other.distance);
  const choice: TestChoice = { chosen: [], left: [] };
  let seconds = 0;
  for (const { test } of seeing) {
    const needed = secondsOf(test.path) ?? USUAL_SECONDS[test.needs];
    const fits = choice.chosen.length === 0 || seconds + needed <= limitSeconds;
    if (fits) seconds += needed;
    (fits ? choice.chosen : choice.left).push(test);
  }
  return choice;
}

type Seeing = { test: TestFile; distance: number };

function rankOf({ test: { needs }, distance }: Seeing): number {
  if (distance < DISTANCE.named) return 0;
  return needs === 'a stack' ? 1 : 2;
}

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
