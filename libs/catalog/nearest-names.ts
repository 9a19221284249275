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
