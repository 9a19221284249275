import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** One test file, by its path from the root of the repository. */
export type TestFile = { path: string; needsServers: boolean; isSlow: boolean };

/** Every test of the repository. */
export function findTests(root: string): TestFile[] {
  const paths = globSync('{bench,cli,libs,services,tests}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.includes('.waybell'),
  });
  return paths.toSorted().map((path) => ({
    path,
    needsServers: needsServers(root, path),
    isSlow: path.endsWith('.slow.test.ts'),
  }));
}

/** What `./waybell test` is asked to run: a suite's name, parts of paths, or nothing for all. */
export function selectTests(all: TestFile[], words: string[]): TestFile[] {
  const [suite] = words;
  if (suite === undefined) return all;
  if (words.length === 1 && suite === 'line') return all.filter((test) => !test.needsServers && !test.isSlow);
  if (words.length === 1 && suite === 'system') return all.filter(({ path }) => path.startsWith('tests/system/'));
  if (words.length === 1 && suite === 'slow') return all.filter((test) => test.isSlow);
  const parts = words.map((word) => word.replace(/^\.\//, ''));
  return all.filter(({ path }) => parts.some((part) => path.includes(part)));
}

// The marks of a test on real servers: their addresses, or the start of servers of its own.
const SERVERS_MARK = /TEST_(AMQP|DATABASE|REDIS)_URL|\bstart(Servers|Stack)\b/;
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
