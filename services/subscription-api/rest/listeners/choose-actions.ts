import type { Response } from 'express';
import type { Caller } from '../authentication/authenticate.ts';
import { invalidBody, pointTo } from '../http/body.ts';
import { requireFeature, type ActionList } from '../subscriptions/find-action.ts';

export type ActionChoice = {
  patterns: readonly string[] | undefined;
  actions: ActionList;
  caller: Caller;
  response: Response;
};

/**
 * The names of the actions that these patterns choose, `*` being any text; without any, of all that the caller can have. Throws a
 * Problem where a pattern chooses nothing (422), a name is of no action (404), or its feature is off (409).
 */
export function chooseActions({ patterns, actions, caller, response }: ActionChoice): string[] {
  const all = actions.listFor(caller).map(({ name }) => name);
  const chosen = patterns?.flatMap((pattern, index) => {
    if (!pattern.includes('*')) {
      const action = actions.find(pattern, response);
      requireFeature(action, caller);
      return [action.name];
    }
    const matching = all.filter((name) => matches(name, pattern));
    if (matching.length > 0) return matching;
    throw invalidBody([{ pointer: pointTo('actions', index), detail: `chooses none of: ${all.join(', ')}` }]);
  });
  return [...new Set(chosen ?? all)];
}

/** Parts are looked for one behind the other: a pattern of many stars takes no longer. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let rest = name.slice(first.length, name.length - last.length);
  return others.every((part) => {
    const at = rest.indexOf(part);
    rest = rest.slice(at + part.length);
    return at !== -1;
  });
}
