import { globSync, readFileSync } from 'node:fs';
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
