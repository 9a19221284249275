import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';

type Declaration = { name: string; path: string; line: string };

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

// Files `.d.ts` are made from the documents. A migration's class is named after what it makes, for the database to remember.
const sources = globSync('{apps,bench,cli,libs,packages,services}/**/*.{ts,tsx}', {
  cwd: repository,
  exclude: [
    '**/{node_modules,dist,testing}/**',
    '**/*.test.{ts,tsx}',
    '**/*.d.ts',
    'services/subscription-api/migrations/**',
  ],
});

function declarationsIn(path: string): Declaration[] {
  const found = read(path).matchAll(/^(?:export )?(?:default )?(?:abstract )?(?:type|interface|class) (\w+)\b.*/gm);
  return [...found].map(([line, name = '']) => ({ name, path, line }));
}

const declarations = sources.flatMap(declarationsIn);

const exceptions: { why: string; covers: (declaration: Declaration) => boolean }[] = [
  {
    why: 'each service has a configuration of its own',
    covers: ({ name, path }) => name === 'Config' && /^services\/[^/]+\/config\.ts$/.test(path),
  },
  {
    why: 'each command has options of its own, which are read in its file alone',
    covers: ({ name, path }) => name === 'Options' && /^(cli\/commands\/|bench\/main\.ts$)/.test(path),
  },
  {
    why: 'pages call what an interface answers with by its name in the document of that interface',
    covers: ({ path, line }) =>
      path.startsWith('apps/') &&
      /= ((Client|Operator)Schemas|components\['schemas'\])\['\w+'\](\[number\])?;$/.test(line),
  },
  { why: 'packages keep the names that they publish, which nothing here imports', covers: isPublished },
];

function isPublished({ name, path }: Declaration): boolean {
  if (!path.startsWith('packages/')) return false;
  const entries = globSync(`${dirname(path)}/{index,postgres,redis,testing}.ts`, { cwd: repository }).map(read);
  const ownName = new RegExp(`\\b${name}\\b`);
  return entries.some((entry) => ownName.test(entry) || entry.includes(`export type * from './${basename(path)}'`));
}

test('a type name means one thing: no two files declare it', () => {
  const declared = declarations.filter((each) => !exceptions.some(({ covers }) => covers(each)));
  const byName = Map.groupBy(declared, ({ name }) => name);
  const several = [...byName].filter(([, places]) => places.length > 1);
  expect(Object.fromEntries(several.map(([name, places]) => [name, places.map(({ path }) => path)]))).toEqual({});
});

test.each(exceptions)('exception in use: $why', ({ covers }) => {
  expect(declarations.some(covers)).toBe(true);
});

test('names of a kind have different values in tests, or the linter says so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-lint-'));
  const path = join(folder, 'like.test.ts');
  const lines = [
    `export const given = { leaseMs: 5, keepMs: 5, port: 5, minSize: 1, maxSize: 1, someId: 'a', otherId: 'b' };`,
    `export const settings = { CONNECT_LIMIT: '5s', RESPONSE_LIMIT: '5s', attempt: 1, generation: 1 };`,
    `export const aThing = ({ oldGuid = 'a', newGuid = 'a' } = {}) => [oldGuid, newGuid];`,
    'export const FIRST_DAYS = 7, LAST_DAYS = 7;',
  ];
  writeFileSync(path, lines.join('\n'));
  const linter = join(repository, 'node_modules/.bin/oxlint');
  const { stdout } = spawnSync(linter, ['-c', join(repository, '.oxlintrc.json'), '-f', 'unix', path]);
  rmSync(folder, { recursive: true });
  const said = stdout.toString().match(/"\w+" is .* too/g) ?? [];
  expect(said.toSorted()).toEqual([
    `"CONNECT_LIMIT" is '5s' too`,
    '"FIRST_DAYS" is 7 too',
    '"attempt" is 1 too',
    '"leaseMs" is 5 too',
    `"oldGuid" is 'a' too`,
  ]);
});
