import { isArray, isObject, objectOf, type JsonValue, pointerTo } from '@waybell/events/json';

/** The value with another at a place, or why there can be none. */
export type SetAtResult = { kind: 'set'; value: JsonValue } | { kind: 'fault'; detail: string };

const MOST_STEPS = 32;

/** The names that a JSON pointer (RFC 6901) leads by; undefined where it is none, or leads deeper than any event goes. */
export function stepsOf(pointer: string): string[] | undefined {
  if (!/^(\/([^~/]|~[01])*)+$/u.test(pointer)) return undefined;
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.length > MOST_STEPS ? undefined : steps;
}

/**
 * Puts a value at the end of these steps. What is missing on the way is made: a list where its first item is named, else an object. A
 * list takes one more item at its end.
 */
export function setAt(
  found: JsonValue | undefined,
  [step, ...others]: readonly string[],
  value: JsonValue,
): SetAtResult {
  if (step === undefined) return { kind: 'set', value };
  const within = found === undefined ? missing(step) : found;
  if (isArray(within)) {
    const isIndex = /^(0|[1-9]\d{0,5})$/.test(step) && Number(step) <= within.length;
    if (!isIndex) return { kind: 'fault', detail: `there is a list of ${within.length}: name an item by its number` };
    const inner = setAt(within[Number(step)], others, value);
    return inner.kind === 'fault' ? inner : { kind: 'set', value: within.toSpliced(Number(step), 1, inner.value) };
  }
  if (!isObject(within))
    return { kind: 'fault', detail: `there is no object or list that could have ${pointerTo(step)}` };
  const members = new Map(Object.entries(within));
  const inner = setAt(members.get(step), others, value);
  return inner.kind === 'fault' ? inner : { kind: 'set', value: objectOf(members.set(step, inner.value)) };
}

const missing = (step: string): JsonValue => (step === '0' ? [] : {});
