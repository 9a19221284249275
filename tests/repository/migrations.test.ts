import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { lastRelease, migrationsHere } from '../versions/release.ts';

/** Statements that lock a table for long, or remove what the previous version still uses (docs/decisions/0012-versions.md). */
const FORBIDDEN: [string, RegExp][] = [
  ['drops a table, a view, a column or a function', /\bdrop\s+(table|view|column|function|schema|type|constraint)\b/],
  ['renames', /\brename\s+(to|column|constraint)\b/],
  ['changes a type', /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/],
  ['forbids null', /\bset\s+not\s+null\b/],
  [
    'adds a column that must be given',
    /\badd\s+column\s+(if\s+not\s+exists\s+)?\w+\s+[^,;]*\bnot\s+null\b(?![^,;]*\bdefault\b)/,
  ],
  [
    'adds a constraint that is checked at once',
    /\badd\s+(constraint|check|foreign|unique|primary)\b(?![^;]*\bnot\s+valid\b)/,
  ],
  ['creates an index where nothing may write meanwhile', /\bcreate\s+(unique\s+)?index\b(?!\s+concurrently)/],
  ['writes many rows at once', /\b(update|delete\s+from)\s+waybell\./],
  ['locks a table', /\block\s+table\b/],
];

/** Returns the way up, without the bodies of functions and without the tables that it creates itself: those are empty. */
function wayUp(source: string): string {
  const down = source.indexOf('async down(');
  const end = source.indexOf('\n  }\n', down);
  const up = down === -1 ? source : source.slice(0, down) + source.slice(end);
  const own = [...up.matchAll(/\bcreate table (waybell\.\w+)/g)].map(([, table = '']) => table);
  const isOwn = (statement: string) =>
    own.some((table) => new RegExp(String.raw`\bon (only )?${table}\b`).test(statement));
  // A constraint that is widened is dropped and put back in one go.
  const isPutBack = (name: string) => new RegExp(String.raw`\badd constraint ${name}\b`).test(up);
  return up
    .replaceAll(/\bcreate (or replace )?function\b[^;]*?(\$\$)[^]*?\2/g, '')
    .replaceAll(/\bdrop constraint (\w+)/g, (drop, name: string) => (isPutBack(name) ? '' : drop))
    .split(';')
    .filter((statement) => !isOwn(statement))
    .join(';');
}

const brokenBy = (sql: string): string[] => FORBIDDEN.filter(([, sign]) => sign.test(sql)).map(([what]) => what);

const released = lastRelease().migrations;
const added = Object.keys(migrationsHere()).filter((name) => !(name in released));

describe('a migration since the last release', () => {
  if (added.length > 0) {
    test.each(added)('%s only adds, and locks nothing for long', (name) => {
      const source = readFileSync(join(repository, 'services/subscription-api/migrations', name), 'utf8');
      expect(brokenBy(wayUp(source))).toEqual([]);
    });
  }

  test.each([
    ['alter table waybell.accounts add column note text', []],
    ["alter table waybell.accounts add column tier text not null default 'a'", []],
    ['create table waybell.new (a int not null); create index new_a on waybell.new (a)', []],
    ['create index concurrently a on waybell.accounts (note)', []],
    ["alter table waybell.accounts add constraint c check (note <> '') not valid", []],
    ['alter table waybell.accounts add column tier text not null', ['adds a column that must be given']],
    ['alter table waybell.accounts drop column note', ['drops a table, a view, a column or a function']],
    [
      'alter table waybell.accounts drop constraint c; alter table waybell.accounts add constraint c check (a) not valid',
      [],
    ],
    ['alter table waybell.accounts drop constraint c', ['drops a table, a view, a column or a function']],
    ['alter table waybell.accounts rename column a to b', ['renames']],
    ['create unique index a on waybell.accounts (note)', ['creates an index where nothing may write meanwhile']],
    ['alter table waybell.accounts alter column note type int', ['changes a type']],
    ['alter table waybell.accounts add check (note is null)', ['adds a constraint that is checked at once']],
    ["create function waybell.f() returns trigger as $$ begin update waybell.accounts set note = ''; end $$", []],
    ["do $$ begin update waybell.accounts set note = ''; end $$", ['writes many rows at once']],
    ["update waybell.accounts set note = ''", ['writes many rows at once']],
  ])('%s: %p', (sql, broken) => {
    expect(brokenBy(wayUp(sql))).toEqual(broken);
  });
});

test.each(globSync('{libs,services}/**/*.sql', { cwd: repository, exclude: (name) => name === 'node_modules' }))(
  '%s takes nothing away: services of the version before still call it',
  (path) => {
    expect(readFileSync(join(repository, path), 'utf8')).not.toMatch(/\bdrop\s/);
  },
);
