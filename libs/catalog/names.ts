import { distance } from 'fastest-levenshtein';

/** Longer than any name; more would only cost. */
const LOOKED_AT = 100;

/** The `count` of these names that differ from `name` by the fewest letters, the nearest first. */
export function nearestNames(name: string, names: readonly string[], count: number): string[] {
  const looked = name.slice(0, LOOKED_AT);
  return names
    .map((each) => ({ each, distance: distance(looked, each) }))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, count)
    .map(({ each }) => each);
}

/** Whether a name is of a pattern, `*` being any text. Parts are looked for one behind the other: a pattern of many stars takes no longer. */
export function matchesPattern(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let rest = name.slice(first.length, name.length - last.length);
  return others.every((part) => {
    const at = rest.indexOf(part);
    rest = rest.slice(at + part.length);
    return at !== -1;
  });
}
