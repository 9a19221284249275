import type { Mistake, MistakeKind } from './mistake.ts';

/** Text that has a statement in it, or a part of one. */
export const SQL =
  /\b(?:select|insert into|delete from|order by|limit|update \S+ .*set|on conflict)\b.*\b(?:from|where|values|select|by|desc|set|using|limit)\b|^.\s*(?:and|where|order by|limit)\b.*[=<>(]/s;

/** Each by the text that it finds and what takes its place; `$1` is what is found first. */
const CHANGES: [MistakeKind, RegExp, string][] = [
  ['bound', /(?<![-<=@])<=(?!>)/g, '<'],
  ['bound', /(?<![-<=@])>=/g, '>'],
  ['bound', /(?<![-<=@])<(?![=>@<-])/g, '<='],
  ['bound', /(?<![-<=>@])>(?![=>])/g, '>='],
  ['unit', / [*/] (?:1_?000|60|24)\b/g, ''],
  ['unit', /\b(?:1_?000|60|24) \* /g, ''],
  ['order', /(?<=[\w)]) desc\b/g, ''],
  ['order', /\border by [\w.]+(?=\s*(?:,|\)|limit|$))/g, '$& desc'],
  ['by one', /(?<=[\w)]) [+-] 1\b/g, ''],
  ['negation', /\bnot (?=exists|in\b|like|null|w\w+\.is_|[a-z]+\.is_)/g, ''],
  ['fallback', /\bcoalesce\(([\w.]+), [^(),]*\)/g, '$1'],
  ['condition', / skip locked\b/g, ''],
  ['condition', /\bdistinct (?!from|on)/g, ''],
];

/** A term of a condition ends before these. */
const ENDS =
  /^(?:and|or|order|group|limit|returning|for|on|union|window|then|end|loop|where|join|left|cross|having|when|set|do)\b/;

/** Returns mistakes of SQL, which begins at that place of its file. */
export function mistakesInSql(sql: string, offset: number): Mistake[] {
  const known = masked(sql);
  const changes = CHANGES.flatMap(([kind, find, replacement]) =>
    [...known.matchAll(find)].map(({ index, 0: found, 1: first = '' }) => {
      const text = replacement
        .replace('$&', found)
        .replace('$1', sql.substr(index + found.indexOf(first), first.length));
      return { kind, from: index, to: index + found.length, text };
    }),
  );
  return [...changes, ...lessConditions(known)].map(({ from, to, ...rest }) => ({
    ...rest,
    from: offset + from,
    to: offset + to,
  }));
}

/** Each condition less. Not where a parameter would be left that nothing says the type of. */
function lessConditions(known: string): Mistake[] {
  return [...known.matchAll(/(?:\s+|^)(where|and)\s+/g)].flatMap(({ index, 0: found, 1: word }) => {
    const isWhole = /\(\s*$/.test(known.slice(0, index));
    const begin = index + found.length;
    const end = endOfTerm(known, begin);
    const [next] = /^(?:and\s+|or\b)/.exec(known.slice(end)) ?? [''];
    if (isWhole || end === begin || (word === 'where' && next === 'or')) return [];
    const [from, to] =
      word === 'where' && next !== '' ? [begin, end + next.length] : [index, known.slice(0, end).trimEnd().length];
    const rest = known.slice(0, from) + known.slice(to);
    const untyped = [...known.slice(from, to).matchAll(/\$\d+/g)].some(([parameter]) => !rest.includes(parameter));
    return untyped ? [] : [{ kind: 'condition', from, to, text: '' }];
  });
}

function endOfTerm(known: string, begin: number): number {
  let depth = 0;
  for (let place = begin; place < known.length; place += 1) {
    const isWordsBegin = !/\w/.test(known[place - 1] ?? '');
    if (depth === 0 && isWordsBegin && ENDS.test(known.slice(place, place + 12))) return place;
    if (known[place] === '(') depth += 1;
    if (known[place] === ')') depth -= 1;
    if (depth < 0 || known[place] === ';') return place;
  }
  return known.length;
}

/** The same length of text, with a word in the place of `${}` and of each text, and nothing in that of comments. */
function masked(sql: string): string {
  const words = (text: string) => 'w'.repeat(text.length);
  return sql
    .replaceAll(/\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, words)
    .replaceAll(/--[^\n]*|\/\*.*?\*\//gs, (comment) => comment.replaceAll(/\S/g, ' '))
    .replaceAll(/'[^'\n]*'|\bbetween [^;]*?\band\b/g, words);
}
