import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { findTests } from './find-tests.ts';
import { ImportGraph } from './import-graph.ts';

const FILES: Record<string, string> = {
  'libs/one/package.json': '{}',
  'libs/one/near.ts': "import { far } from './far.ts';\nimport type { Shape } from './shape.ts';\n",
  'libs/one/far.ts': "export const far = () => import('./lazy.ts');\n",
  'libs/one/lazy.ts': "export const command = [join(repository, 'cli', 'main.ts')];\n",
  'libs/one/shape.ts': 'export type Shape = string;\n',
  'cli/main.ts': "const main = join(repository, 'services', service.name, 'main.ts');\n",
  'services/a/main.ts': "import { near } from '@waybell/one/near';\n",
  'services/b/main.ts': "readdirSync('docs/pages');\n",
  'docs/pages/first.md': '',
  'docs/other.md': '',
  'tests/seeing.test.ts': "import { near } from '@waybell/one/near';\nglobSync('docs/pages/*.md');\n",
};

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waybell-graph-'));
  for (const [path, source] of Object.entries(FILES)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), source);
  }
});

afterAll(() => rmSync(root, { recursive: true }));

describe('a test depends on', () => {
  test('what it imports, by any way, and on what is run or read by a path: the farther the less', () => {
    expect(Object.fromEntries(new ImportGraph(root, Object.keys(FILES)).reach('tests/seeing.test.ts'))).toEqual({
      'tests/seeing.test.ts': 0,
      'libs/one/near.ts': 1,
      'libs/one/far.ts': 2,
      'libs/one/lazy.ts': 3,
      'docs/pages/first.md': 10,
      'cli/main.ts': 13,
      'services/a/main.ts': 23,
      'services/b/main.ts': 23,
    });
  });

  test('no types alone, which no test can see', () => {
    const imports = new ImportGraph(root, Object.keys(FILES)).importsOf('libs/one/near.ts');
    expect([...imports]).toEqual(['libs/one/near.ts', 'libs/one/far.ts', 'libs/one/lazy.ts']);
  });
});

/** Pages to be read by people, and what tools of others read. */
const UNSEEN =
  /\.(?:md|svg)$|^\.|^deploy\/toolchain\/\.npmrc$|^examples\/|\.(?:long|timing)\.test\.ts$|^packages\/receiver\/(?:index|tsdown\.config)\.ts$/;

test('every file of the repository that can break something is seen by a test of the gate', () => {
  const graph = new ImportGraph(repository);
  const gate = findTests(repository, graph).filter(({ suite }) => suite === 'gate');
  const seen = new Set(gate.flatMap(({ path }) => [...graph.reach(path).keys()]));
  // Not what lies about in somebody's work tree.
  const kept = execFileSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' }).split('\0');
  expect(kept.filter((path) => path !== '' && !seen.has(path) && !UNSEEN.test(path))).toEqual([]);
});
