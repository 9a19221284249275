import { isArray, isObject, objectOf, type JsonValue } from '@waybell/events/json';
import { pointerTo } from '@waybell/events/json-pointer';

/** The value with another at a place, or why there can be none. */
export type Setting = { kind: 'set'; value: JsonValue } | { kind: 'fault'; detail: string };

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

/** Puts a value at the end of these steps. Objects that are missing on the way are made; a list takes one more item at its end. */
export function setAt(within: JsonValue | undefined, [step, ...others]: readonly string[], value: JsonValue): Setting {
  if (step === undefined) return { kind: 'set', value };
  if (isArray(within)) {
    const isIndex = /^(0|[1-9]\d{0,5})$/.test(step) && Number(step) <= within.length;
    if (!isIndex) return { kind: 'fault', detail: `there is a list of ${within.length}: name an item by its number` };
    const inner = setAt(within[Number(step)], others, value);
    return inner.kind === 'fault' ? inner : { kind: 'set', value: within.toSpliced(Number(step), 1, inner.value) };
  }
  if (within !== undefined && !isObject(within))
    return { kind: 'fault', detail: `there is no object or list that could have ${pointerTo(step)}` };
  const members = new Map(Object.entries(within ?? {}));
  const inner = setAt(members.get(step), others, value);
  return inner.kind === 'fault' ? inner : { kind: 'set', value: objectOf(members.set(step, inner.value)) };
}
