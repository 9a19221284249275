import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';

const MOST_FILES = 680;
const MOST_SMALL_WITH_ONE_USER = 20;
const SMALL_LINES = 60;

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: repository,
  encoding: 'utf8',
}).split('\0');
const files = new Set(listed.filter((path) => path !== ''));
const packages = [...files].flatMap((path): { name: string; folder: string }[] =>
  path.endsWith('/package.json')
    ? [{ name: (JSON.parse(read(path)) as { name: string }).name, folder: dirname(path) }]
    : [],
);
const product = [...files].filter(
  (path) =>
    /^(?:apps|bench|cli|libs|packages|services)\/.*(?<!\.d)\.tsx?$/.test(path) && !/\.test\.ts$|\/testing\//.test(path),
);

function imported(path: string): string[] {
  const found = read(path).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g);
  return [...found].flatMap(([, target = '']) => fileOf(path, target));
}

function fileOf(importer: string, target: string): string[] {
  const { name = '', folder = '' } = packages.find((each) => target.startsWith(`${each.name}/`)) ?? {};
  const path = target.startsWith('.')
    ? normalize(join(dirname(importer), target))
    : join(folder, target.slice(name.length));
  return [path, `${path}.ts`, `${path}.tsx`].filter((each) => files.has(each)).slice(0, 1);
}

describe('a file is a room: it has two users, or a subject of its own', () => {
  test(`the product has at most ${MOST_FILES} files written by hand`, () => {
    expect(product.length).toBeLessThanOrEqual(MOST_FILES);
  });

  test(`at most ${MOST_SMALL_WITH_ONE_USER} small files have one user, in their folder: they belong into it`, () => {
    const users = new Map<string, string[]>();
    for (const user of product)
      for (const path of new Set(imported(user))) users.set(path, [...(users.get(path) ?? []), user]);
    // A migration is a subject of its own, however short: databases remember it.
    const small = product.filter((path) => {
      const [user = '', ...others] = users.get(path) ?? [];
      return (
        !path.includes('/migrations/') &&
        others.length === 0 &&
        dirname(user) === dirname(path) &&
        read(path).split('\n').length <= SMALL_LINES
      );
    });
    expect(small.length <= MOST_SMALL_WITH_ONE_USER ? [] : small).toEqual([]);
  });
});
