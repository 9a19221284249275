import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { sharedFolder } from '@waybell/runtime/testing/shared';
import { chooseChanged } from './choose-changed.ts';
import { findTests } from './find-tests.ts';
import { ImportGraph } from './import-graph.ts';

const FILES: Record<string, string> = {
  'libs/one/package.json': '{}',
  'libs/one/near.ts': "import { far } from './far.ts';\nimport type { Shape } from './shape.ts';\n",
  'libs/one/far.ts': "export const far = () => import('./lazy.ts');\n",
  'libs/one/lazy.ts': "export const command = [join(repository, 'cli', 'main.ts')];\n",
  'libs/one/shape.ts': 'export type Shape = string;\n',
  'libs/one/ask.ts': "postgres.query('select waybell.answer($1)'.split('.'));\n",
  'libs/two/answer.sql': 'create function waybell.answer(text) returns text',
  'cli/main.ts': "const main = join(repository, 'services', service.name, 'main.ts');\n",
  'services/a/main.ts': "import { near } from '@waybell/one/near';\n",
  'services/b/main.ts': "readdirSync('docs/pages');\n",
  'docs/pages/first.md': '',
  'docs/other.md': '',
  'tests/database.test.ts': "import { ask } from '@waybell/one/ask';\nglobSync('{libs,docs}/**/*.{ts,md}');\n",
  ...Object.fromEntries(Array.from({ length: 100 }, (_, place) => [`docs/many/${place}.md`, ''])),
  'tests/seeing.test.ts': "import { near } from '@waybell/one/near';\nglobSync('docs/pages/*.md');\n",
};

const root = sharedFolder('graph');

beforeAll(() => {
  for (const [path, source] of Object.entries(FILES)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), source);
  }
});

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

  test('functions of the database that are called, but not on all that a pattern of everything matches, or a full stop', () => {
    expect(Object.fromEntries(new ImportGraph(root, Object.keys(FILES)).reach('tests/database.test.ts'))).toEqual({
      'tests/database.test.ts': 0,
      'libs/one/ask.ts': 1,
      'libs/two/answer.sql': 2,
    });
  });

  test('no types alone, which no test can see', () => {
    const imports = new ImportGraph(root, Object.keys(FILES)).importsOf('libs/one/near.ts');
    expect([...imports]).toEqual(['libs/one/near.ts', 'libs/one/far.ts', 'libs/one/lazy.ts']);
  });
});

/** Files that are measured and not tested, that long tests run, that every test runs in, and that tools read before that. */
const UNOPENED =
  /^bench\/|^tests\/|\/testing\/|\.(?:long|timing)\.test\.ts$|^\.|package\.json$|^deploy\/toolchain\/|^examples\/|^jest\.config\.js$|^cli\/lint\/|^cli\/test-run\/(?:fixed-seed|native-runtime|test-environment|test-globals)\.js$/;

test('every file of the product that can break something is opened by a test of the gate', () => {
  const graph = new ImportGraph(repository);
  const tests = findTests(repository, graph);
  // Not what lies about in somebody's work tree.
  const kept = execFileSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' }).split('\0');
  const changed = kept.filter((path) => path !== '' && !UNOPENED.test(path));
  const { unopened } = chooseChanged({ changed, tests, graph, secondsOf: () => 0 });
  expect(unopened).toEqual([]);
});
