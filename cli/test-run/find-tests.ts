import { globSync } from 'node:fs';
import { ImportGraph } from './import-graph.ts';

/** `gate` gates a landing, `long` runs with everything, `timing` measures real time. */
export type Suite = 'gate' | 'long' | 'timing';

/**
 * The requirements of a test: nothing, servers that many share, a turn with servers that it may break, a whole system, or a
 * system in a network and file system of its own.
 */
export type Needs = 'nothing' | 'servers' | 'a turn' | 'a stack' | 'a network';

/** One test file, by its path from the root of the repository. */
export type TestFile = { path: string; suite: Suite; needs: Needs; opensBrowser: boolean };

/** Every test of the repository. A file's name says its suite: `.long.test.ts`, `.timing.test.ts`, else the gate. */
export function findTests(root: string, graph = new ImportGraph(root)): TestFile[] {
  const paths = globSync('*/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.includes('.waybell'),
  });
  // Most files are imported by many tests: each is read for marks once.
  const known = new Map<string, readonly RegExp[]>();
  const marksOf = (file: string) => {
    const found = known.get(file) ?? ALL_MARKS.filter((mark) => mark.test(graph.sourceOf(file)));
    known.set(file, found);
    return found;
  };
  return paths.toSorted().map((path) => {
    const marks = new Set([...graph.importsOf(path)].flatMap(marksOf));
    return { path, suite: suiteOf(path), needs: needsOf(marks), opensBrowser: marks.has(BROWSER) };
  });
}

/** Selects tests for `./waybell test`: suites by name, parts of paths, or, without either, the gate. */
export function selectTests(all: TestFile[], words: string[]): TestFile[] {
  const [word] = words;
  if (word === undefined) return all.filter(({ suite }) => suite === 'gate');
  if (words.length === 1) {
    if (word === 'everything') return all.filter(({ suite }) => suite !== 'timing');
    if (word === 'timing') return all.filter(({ suite }) => suite === 'timing');
    if (word === 'line') return all.filter(({ suite, needs }) => suite === 'gate' && needs === 'nothing');
  }
  const parts = words.map((part) => part.replace(/^\.\//, ''));
  return all.filter(({ path }) => parts.some((part) => path.includes(part)));
}

function suiteOf(path: string): Suite {
  const [, suite] = /\.(long|timing)\.test\.ts$/.exec(path) ?? [];
  return suite === 'long' || suite === 'timing' ? suite : 'gate';
}

const MARKS: [Needs, RegExp][] = [
  ['a network', /\bown(Surroundings)\(/],
  ['a stack', /\bTestStack\.(start)|\bstart(Stack)\(/],
  ['a turn', /\bBreakableBroker\.(start)/],
  ['servers', /TEST_(SERVERS)|\bstart(Servers)\b/],
];
const BROWSER = /\bopen(Browser)\(/;

const ALL_MARKS = [...MARKS.map(([, mark]) => mark), BROWSER];

/** The most that a test of sources with these marks needs. */
const needsOf = (marks: ReadonlySet<RegExp>): Needs => MARKS.find(([, mark]) => marks.has(mark))?.[0] ?? 'nothing';
