import { nearestNames } from '@waybell/catalog/nearest-names';
import type { Response } from 'express';
import type { Caller } from '../authentication/authenticate.ts';
import { pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';
import type { ActionList } from './find-action.ts';

export type ActionChoice = {
  patterns: readonly string[] | undefined;
  actions: ActionList;
  caller: Caller;
  response: Response;
};

/**
 * Finds the actions that these patterns choose, `*` being any text; without any, all that the caller can have. A name may be of one
 * that is deprecated, or whose feature is off. A fault names the nearest action where a pattern chooses none.
 */
export function chooseActions({ patterns, actions, caller, response }: ActionChoice) {
  const all = actions.listFor(caller);
  const chosen = (patterns ?? ['*']).map((pattern) => {
    if (pattern.includes('*')) return all.filter(({ name }) => matches(name, pattern));
    return actions.named(pattern, response) ?? [];
  });
  const names = all.map(({ name }) => name);
  const faults = (patterns ?? []).flatMap((pattern, index): Fault[] => {
    const found = [chosen[index]].flat();
    const detail = `chooses no action; the nearest is ${nearestNames(pattern, names, 1).join()}`;
    return found.length > 0 ? [] : [{ pointer: pointTo('actions', index), detail }];
  });
  return { chosen: [...new Set(chosen.flat())], faults };
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
