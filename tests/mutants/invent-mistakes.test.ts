import { describe, expect, test } from '@jest/globals';
import { asMutant } from './choose-mistakes.ts';
import { inventMistakes } from './invent-mistakes.ts';
import { breakWith } from './read-mutants.ts';

/** The source with each of its mistakes, those of one kind alone. */
function invent(kind: string, source: string, path = 'libs/it/it.ts'): string[] {
  return inventMistakes(path, source)
    .filter((mistake) => mistake.kind === kind)
    .map(({ from, to, text }) => `${source.slice(0, from)}${text}${source.slice(to)}`);
}

describe('of code', () => {
  test.each([
    ['exchanged', 'f(one, other);', ['f(other, one);']],
    ['exchanged', 'f({ one, other: 2 + x });', ['f({ one: 2 + x, other: one });']],
    ['exchanged', 'ask(sql, [one, other]);', ['ask([one, other], sql);', 'ask(sql, [other, one]);']],
    ['exchanged', 'Math.max(one, other); f(one, () => 1);', []],
    [
      'left out',
      'f({ one, ...(two && { two }) });',
      ['f({ ...(two && { two }) });', 'f({ one,  });', 'f({ one, ...(two && {  }) });'],
    ],
    ['bound', 'one < 2;', ['one <= 2;']],
    ['bound', 'clock.now() >= until;', []],
    ['unit', 'const limitMs = seconds * 1_000;', ['const limitMs = seconds;']],
    ['unit', 'const LIMIT_MS = 5_000; const most = 5_000;', ['const LIMIT_MS = 5; const most = 5_000;']],
    ['await', 'await f(); const it = await g();', ['void f(); const it = await g();', 'await f(); const it = g();']],
    ['negation', 'if (!isOne) f();', ['if (isOne) f();']],
    ['negation', 'if (isOne) f();', ['if (!(isOne)) f();']],
    ['order', 'all.toSorted((one, other) => one - other);', ['all.toSorted((other, one) => one - other);']],
    ['order', 'all.toSorted().toReversed();', ['all.toSorted();', 'all.toSorted().toReversed().toReversed();']],
    ['neighbor', "const words = { one: '1', two: '2' };", ["const words = { one: '2', two: '1' };"]],
    ['neighbor', "const words = [['one', 1], ['two', 2]];", ["const words = [['one', 2], ['two', 1]];"]],
    ['logic', 'one && other;', ['one || other;']],
    ['fallback', 'given ?? 5;', ['5;', 'given ?? 6;']],
    [
      'by one',
      'all.slice(0, most); n - 1;',
      ['all.slice(1, most); n - 1;', 'all.slice(0, most + 1); n - 1;', 'all.slice(0, most); n;'],
    ],
  ])('%s: %s', (kind, source, broken) => {
    expect(invent(kind, source)).toEqual(broken);
  });

  test('nothing is invented in what is only told: the log, errors, help, types', () => {
    const source =
      "log.info({ one, other }, 'it'); throw new TypeError(f(one, other)); spec({ help: a ?? b }); type It = { one: 1; two: 2 };";
    expect(inventMistakes('libs/it/it.ts', source).map(({ kind }) => kind)).toEqual([]);
  });

  test('elements of a page are code as well', () => {
    expect(invent('negation', 'const it = <p>{!isOne ? one : two}</p>;', 'it.tsx')).toEqual([
      'const it = <p>{isOne ? one : two}</p>;',
    ]);
  });
});

describe('of SQL', () => {
  const inSql = (kind: string, sql: string) =>
    invent(kind, `ask(\`${sql}\`);`).map((source) => source.slice('ask(`'.length, -'`);'.length));

  test.each([
    [
      'condition',
      'select a from t where a = 1 and (b or c)',
      ['select a from t where (b or c)', 'select a from t where a = 1'],
    ],
    ['condition', 'select a from t where a between 1 and 2 order by a', ['select a from t order by a']],
    [
      'condition',
      'select a from t where ${isIt} limit 1 for update skip locked',
      ['select a from t where ${isIt} limit 1 for update', 'select a from t limit 1 for update skip locked'],
    ],
    [
      'order',
      '(select a from t order by a desc, b) union (select b from t order by b limit 1)',
      [
        '(select a from t order by a, b) union (select b from t order by b limit 1)',
        '(select a from t order by a desc, b) union (select b from t order by b desc limit 1)',
      ],
    ],
    ['bound', "select a->>'x' from t where a <= b and c <> d", ["select a->>'x' from t where a < b and c <> d"]],
    ['unit', 'select 1000 * a from t', ['select a from t']],
    ['negation', 'select a from t where not exists (select)', ['select a from t where exists (select)']],
    ['fallback', 'select coalesce(a, 0) from t', ['select a from t']],
  ])('%s: %s', (kind, sql, broken) => {
    expect(inSql(kind, sql)).toEqual(broken);
  });

  test('no parameter is left of which nothing says the type', () => {
    expect(inSql('condition', 'select a from t where a = $1 and b')).toEqual(['select a from t where a = $1']);
  });

  test('files are whole statements, and comments nothing', () => {
    expect(invent('condition', '-- those where a and b\nselect a from t where c;', 'it.sql')).toEqual([
      '-- those where a and b\nselect a from t;',
    ]);
  });
});

test('a mistake stands in a table with as many lines as are there once', () => {
  const source = 'f(one);\ng(\n  one,\n);\nf(two);\ng(\n  one,\n);\n';
  const from = source.lastIndexOf('one');
  const mutant = asMutant({ path: 'it.ts', source }, { kind: 'exchanged', from, to: from + 3, text: 'two' });
  expect(mutant).toMatchObject({ find: ['f(two);', 'g(', 'one,'], replace: ['f(two);', 'g(', 'two,'] });
  expect(breakWith(mutant, source)).toBe('f(one);\ng(\n  one,\n);\nf(two);\ng(\ntwo,\n);\n');
});
