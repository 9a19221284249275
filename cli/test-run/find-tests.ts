import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** What gates a landing, what runs with everything, and what measures real time. */
export type Suite = 'gate' | 'long' | 'timing';

/** One test file, by its path from the root of the repository. */
export type TestFile = { path: string; suite: Suite; needsServers: boolean };

/** Every test of the repository. A file's name says its suite: `.long.test.ts`, `.timing.test.ts`, else the gate. */
export function findTests(root: string): TestFile[] {
  const paths = globSync('{bench,cli,libs,services,tests}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.includes('.waybell'),
  });
  return paths.toSorted().map((path) => ({ path, suite: suiteOf(path), needsServers: needsServers(root, path) }));
}

/** What `./waybell test` is asked to run: suites by name, parts of paths, or nothing for the gate. */
export function selectTests(all: TestFile[], words: string[]): TestFile[] {
  const [word] = words;
  if (word === undefined) return all.filter(({ suite }) => suite === 'gate');
  if (words.length === 1) {
    if (word === 'everything') return all.filter(({ suite }) => suite !== 'timing');
    if (word === 'timing') return all.filter(({ suite }) => suite === 'timing');
    if (word === 'line')
      return all.filter(({ suite, needsServers: isWithServers }) => suite === 'gate' && !isWithServers);
  }
  const parts = words.map((part) => part.replace(/^\.\//, ''));
  return all.filter(({ path }) => parts.some((part) => path.includes(part)));
}

function suiteOf(path: string): Suite {
  const [, suite] = /\.(long|timing)\.test\.ts$/.exec(path) ?? [];
  return suite === 'long' || suite === 'timing' ? suite : 'gate';
}

// The marks of a test on real servers: those of the run, or the start of servers of its own.
const SERVERS_MARK = /TEST_(SERVERS)|\bstart(Servers|Stack)\b/;
const IMPORT = /from\s+'((?:\.{1,2}\/|@waybell\/)[^']+)'/g;

/** Whether the file, or anything of this repository that it imports, uses real servers. */
function needsServers(root: string, path: string): boolean {
  const seen = new Set<string>();
  const queue = [join(root, path)];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const source = readFileSync(file, 'utf8');
    if (SERVERS_MARK.test(source)) return true;
    for (const [, target = ''] of source.matchAll(IMPORT)) queue.push(fileOf(root, file, target));
  }
  return false;
}

function fileOf(root: string, importer: string, target: string): string {
  const [, name, path] = /^@waybell\/([^/]+)\/(.+)$/.exec(target) ?? [];
  if (name === undefined) return resolve(dirname(importer), target);
  const folders = [`libs/${name}`, `services/${name}`, name].map((folder) => join(root, folder));
  return join(folders.find((folder) => existsSync(folder)) ?? root, `${path}.ts`);
}
