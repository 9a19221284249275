import { distance } from 'fastest-levenshtein';
import type { Action } from './action.ts';

/** Longer than any name; more would only cost. */
const LOOKED_AT = 100;

/** The names of these actions by how few letters they differ from `name`, the nearest `count` of them. */
export function nearestNames(name: string, actions: readonly Action[], count: number): string[] {
  const looked = name.slice(0, LOOKED_AT);
  const byDistance = actions.map((action) => ({ name: action.name, distance: distance(looked, action.name) }));
  return byDistance
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, count)
    .map((each) => each.name);
}
