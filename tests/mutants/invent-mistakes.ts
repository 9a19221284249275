import { parseSync, visitorKeys, type Node, type ObjectProperty } from 'oxc-parser';
import type { Mistake, MistakeKind } from './mistake.ts';
import { mistakesInSql, SQL } from './mistakes-in-sql.ts';

type Span = { start: number; end: number };
type Invent<T extends Node = Node> = (node: T, textOf: (span: Span) => string) => Mistake[];

/**
 * Returns mistakes that could be made in this source, without those that only change what nobody decides by: texts of the log, of
 * errors and of help. Whether one compiles is not known here.
 */
export function inventMistakes(path: string, source: string): Mistake[] {
  if (path.endsWith('.sql')) return mistakesInSql(source, 0);
  const mistakes: Mistake[] = [];
  const textOf = ({ start, end }: Span) => source.slice(start, end);
  const visit = (node: Node): void => {
    if (isNoise(node, textOf)) return;
    for (const invent of INVENTORS) mistakes.push(...invent(node, textOf));
    for (const key of visitorKeys[node.type] ?? []) {
      // The keys name children.
      const children = (node as unknown as Record<string, Node | (Node | null)[] | null>)[key] ?? [];
      for (const child of [children].flat()) if (child !== null) visit(child);
    }
  };
  visit(parseSync(path, source).program);
  const isFirst = ({ kind, from, to }: Mistake, place: number) =>
    mistakes.findIndex((other) => other.kind === kind && other.from === from && other.to === to) === place;
  return mistakes.filter(
    (each, place) => source.slice(each.from, each.to) !== each.text && (each.kind !== 'await' || isFirst(each, place)),
  );
}

/** Members that are read by people alone, and what React wants for itself. */
const WORDS = /^(?:help|description|summary|title|examples?|message|cause|err|className|key)$/;
const TYPES = /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|^Import(?!Expression)/;
const TOLD =
  /(?:\blog|Log)\.\w+$|^(?:report|print|note|console\.\w+)$|\.(?:description|addHelpText|option|argument|requiredOption|describe)$/;

function isNoise(node: Node, textOf: (span: Span) => string): boolean {
  if (TYPES.test(node.type)) return true;
  if (node.type === 'Property') return WORDS.test(textOf(node.key));
  if (node.type === 'NewExpression') return textOf(node.callee).endsWith('Error');
  return node.type === 'CallExpression' && TOLD.test(textOf(node.callee));
}

const replace = (kind: MistakeKind, { start, end }: Span, text: string): Mistake => ({
  kind,
  from: start,
  to: end,
  text,
});

/** The first in the place of the second, and the other way round. */
function exchange(kind: MistakeKind, [one, other]: readonly [Span, Span], textOf: (span: Span) => string): Mistake {
  const between = textOf({ start: one.end, end: other.start });
  return { kind, from: one.start, to: other.end, text: `${textOf(other)}${between}${textOf(one)}` };
}

const neighbors = <T>(all: readonly T[]): [T, T][] => all.slice(1).map((each, place) => [all[place] as T, each]); // There: one before.

const isFunction = ({ type }: Node): boolean => type === 'ArrowFunctionExpression' || type === 'FunctionExpression';
const isPlain = (node: Node): boolean => !isFunction(node) && node.type !== 'SpreadElement';
/** Whether it is written in a table: texts and numbers, not what was worked out. */
const isWritten = (node: Node): boolean =>
  node.type === 'Literal' || node.type === 'ObjectExpression' || node.type === 'ArrayExpression';
const isAlike = (one: Node, other: Node): boolean =>
  one.type === 'Literal' && other.type === 'Literal'
    ? typeof one.value === typeof other.value
    : one.type === other.type;
const SYMMETRIC = /^Math\.(?:max|min)$|^Object\.is$|[eE]qual\w*$/;

const UNORDERED = /^(?:Promise\.\w+|AbortSignal\.any|Set|Map)$/;

/** A number without its separators, where the text is one. */
const numberIn = (text: string): number | undefined =>
  /^\d[\d_]*$/.test(text) ? Number(text.replaceAll('_', '')) : undefined;
const UNITS = new Set([60, 24, 1_000, 1_024, 3_600, 60_000, 3_600_000, 86_400_000]);
const OF_TIME = /(?:Ms|_MS|Seconds|_SECONDS|Minutes|Hours|Days|_DAYS|[a-z]S)$/;

const inCalls: Invent = (node, textOf) => {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return [];
  const { arguments: given, callee } = node;
  const exchanged = SYMMETRIC.test(textOf(callee))
    ? []
    : neighbors(given)
        .filter((pair) => pair.every(isPlain))
        .map((pair) => exchange('exchanged', pair, textOf));
  // Parameters of a statement, say.
  const lists = UNORDERED.test(textOf(callee)) ? [] : given.filter((each) => each.type === 'ArrayExpression');
  for (const { elements } of lists)
    for (const [one, other] of neighbors(elements))
      if (one && other && !isWritten(one) && !isWritten(other) && isPlain(one) && isPlain(other))
        exchanged.push(exchange('exchanged', [one, other], textOf));
  if (callee.type !== 'MemberExpression') return exchanged;
  const method = textOf(callee.property);
  const [first] = given;
  if (/^(?:toReversed|reverse)$/.test(method)) return [replace('order', node, textOf(callee.object))];
  if (/^(?:toSorted|sort)$/.test(method)) {
    const [one, other] = first?.type === 'ArrowFunctionExpression' ? first.params : [];
    return one !== undefined && other !== undefined
      ? [...exchanged, exchange('order', [one, other], textOf)]
      : [replace('order', node, `${textOf(node)}.toReversed()`)];
  }
  if (/^(?:slice|subarray|at)$/.test(method))
    exchanged.push(...given.filter(isPlain).map((each) => replace('by one', each, oneMore(textOf(each)))));
  return exchanged;
};

const oneMore = (text: string): string => String((numberIn(text) ?? Number.NaN) + 1).replace('NaN', `${text} + 1`);

/** Members farther apart are hardly taken for each other. */
const FARTHEST = 3;

const inObjects: Invent = (node, textOf) => {
  if (node.type !== 'ObjectExpression') return [];
  const members = node.properties.filter(
    (each): each is ObjectProperty =>
      each.type === 'Property' &&
      !each.computed &&
      !each.method &&
      isPlain(each.value) &&
      !WORDS.test(textOf(each.key)),
  );
  const exchanged = members.flatMap((one, place) =>
    members.slice(place + 1, place + 1 + FARTHEST).map((other) => {
      const withValue = (member: ObjectProperty, value: Span) => `${textOf(member.key)}: ${textOf(value)}`;
      const between = textOf({ start: one.end, end: other.start });
      const text = `${withValue(one, other.value)}${between}${withValue(other, one.value)}`;
      const isOfTable = isWritten(one.value) && isWritten(other.value);
      if (textOf(one.value) === textOf(other.value) || (isOfTable && !isAlike(one.value, other.value))) return [];
      return [{ kind: isOfTable ? 'neighbor' : 'exchanged', from: one.start, to: other.end, text } as const];
    }),
  );
  const leftOut = node.properties
    .filter((each) => each.type === 'SpreadElement' || !WORDS.test(textOf(each.key)))
    .map((each) => {
      const [comma = ''] = /^,\s*/.exec(textOf({ start: each.end, end: node.end })) ?? [];
      return { kind: 'left out', from: each.start, to: each.end + comma.length, text: '' } as const;
    });
  return [...exchanged.flat(), ...leftOut];
};

/** Exchanges what `[name, what it means]` and the next one mean. */
const inTuples: Invent = (node, textOf) => {
  if (node.type !== 'ArrayExpression') return [];
  return neighbors(node.elements).flatMap(([one, other]) => {
    if (one?.type !== 'ArrayExpression' || other?.type !== 'ArrayExpression') return [];
    const [mine, others] = [one.elements[1], other.elements[1]];
    return mine && others && isPlain(mine) && isPlain(others) ? [exchange('neighbor', [mine, others], textOf)] : [];
  });
};

const BOUNDS: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

const inOperators: Invent = (node, textOf) => {
  if (node.type === 'LogicalExpression') {
    const { left, operator, right } = node;
    const operate = (kind: MistakeKind, other: string) =>
      replace(kind, node, `${textOf(left)} ${other} ${textOf(right)}`);
    if (operator === '&&') return right.type.startsWith('JSX') ? [] : [operate('logic', '||')];
    if (operator === '||') return [operate('logic', '&&')];
    const number = numberIn(textOf(right));
    return [
      replace('fallback', node, textOf(right)),
      ...(number === undefined ? [] : [replace('fallback', right, String(number + 1))]),
    ];
  }
  if (node.type !== 'BinaryExpression') return [];
  const { left, operator, right } = node;
  const bound = BOUNDS[operator];
  // Nobody sees whether a millisecond more has passed.
  if (bound !== undefined && !/\bnow\(\)/.test(textOf(node)))
    return [replace('bound', node, `${textOf(left)} ${bound} ${textOf(right)}`)];
  const number = numberIn(textOf(right));
  if (/^[*/]$/.test(operator) && number !== undefined && UNITS.has(number))
    return [replace('unit', node, textOf(left))];
  if (/^[+-]$/.test(operator) && number === 1) return [replace('by one', node, textOf(left))];
  return [];
};

const inConditions: Invent = (node, textOf) => {
  if (node.type === 'UnaryExpression' && node.operator === '!')
    return [replace('negation', node, textOf(node.argument))];
  if (node.type === 'AwaitExpression') return [replace('await', node, textOf(node.argument))];
  if (node.type === 'ExpressionStatement' && node.expression.type === 'AwaitExpression')
    return [replace('await', node.expression, `void ${textOf(node.expression.argument)}`)];
  if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression') return [];
  return textOf(node.test).startsWith('!') ? [] : [replace('negation', node.test, `!(${textOf(node.test)})`)];
};

/** Durations that are written as numbers: a thousand times as much, or the thousandth part. */
const inDurations: Invent = (node, textOf) => {
  const [name, value] =
    node.type === 'Property' ? [node.key, node.value] : node.type === 'VariableDeclarator' ? [node.id, node.init] : [];
  if (name === undefined || !value || !OF_TIME.test(textOf(name))) return [];
  const number = numberIn(textOf(value)) ?? 0;
  return number === 0 ? [] : [replace('unit', value, String(number % 1_000 === 0 ? number / 1_000 : number * 1_000))];
};

const inTexts: Invent = (node, textOf) => {
  if (node.type !== 'TemplateLiteral' && node.type !== 'Literal') return [];
  const text = textOf(node);
  return /^['`]/.test(text) && SQL.test(text) ? mistakesInSql(text.slice(1, -1), node.start + 1) : [];
};

const INVENTORS: readonly Invent[] = [inCalls, inObjects, inTuples, inOperators, inConditions, inDurations, inTexts];
