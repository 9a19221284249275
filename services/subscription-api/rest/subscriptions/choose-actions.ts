import { matchesPattern, nearestNames } from '@waybell/catalog/names';
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
 * that is deprecated, or whose feature is off. A fault names the nearest action, or pattern, where one chooses none.
 */
export function chooseActions({ patterns, actions, caller, response }: ActionChoice) {
  const all = actions.listFor(caller);
  const chosen = (patterns ?? ['*']).map((pattern) => {
    if (pattern.includes('*')) return all.filter(({ name }) => matchesPattern(name, pattern));
    return actions.named(pattern, response) ?? [];
  });
  const names = all.map(({ name }) => name);
  const faults = (patterns ?? []).flatMap((pattern, index): Fault[] => {
    const found = [chosen[index]].flat();
    const known = pattern.includes('*') ? names.map((name) => `${name.slice(0, name.lastIndexOf('.') + 1)}*`) : names;
    const detail = `"${pattern}" chooses no action; the nearest is ${nearestNames(pattern, known, 1).join()}`;
    return found.length > 0 ? [] : [{ pointer: pointTo('actions', index), detail }];
  });
  return { chosen: [...new Set(chosen.flat())], faults };
}
