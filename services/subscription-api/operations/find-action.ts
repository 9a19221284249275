import type { Response } from 'express';
import type { Action, Interface } from '@waybell/catalog/action';
import { nearestNames, matchesPattern } from '@waybell/catalog/names';
import type { Caller } from '../rest/authentication/authenticate.ts';
import { pointTo } from '../rest/http/body.ts';
import { Problem, type Fault } from '../rest/http/problem.ts';

/** The actions of one interface, as its clients see them. */
export type ActionList = {
  /** Lists actions that the caller can subscribe to: neither deprecated nor switched off for its account. */
  listFor(caller: Caller): Action[];
  /** The action of that name, deprecated or not; the response says if it is. Undefined where there is none. */
  named(name: string, response: Response): Action | undefined;
  /** The action of that name, as `named`. Throws a Problem (404) that names the nearest. */
  find(name: string, response: Response): Action;
};

const NEAREST = 3;
const NAME_LIMIT = 100;

export function listActions(interfaceName: Interface, catalog: readonly Action[]): ActionList {
  const actions = catalog.filter((action) => action.interface === interfaceName);
  const byName = new Map(actions.map((action) => [action.name, action]));
  const current = actions.filter((action) => action.deprecated === undefined);
  function named(name: string, response: Response): Action | undefined {
    const action = byName.get(name);
    if (action?.deprecated !== undefined) announceDeprecation(action.deprecated, response);
    return action;
  }
  return {
    listFor: (caller) => current.filter((action) => isOnFor(action, caller)),
    named,
    find(name, response) {
      const action = named(name, response);
      if (action === undefined) throw unknownAction(name.slice(0, NAME_LIMIT), current);
      return action;
    },
  };
}

/** The actions of each interface. */
export function listAllActions(catalog: readonly Action[]): Record<Interface, ActionList> {
  return { shipper: listActions('shipper', catalog), carrier: listActions('carrier', catalog) };
}

/** A Problem (409) while the action's feature is not enabled for the caller's account. */
export function featureOff(action: Action, caller: Caller): Problem | undefined {
  if (isOnFor(action, caller)) return undefined;
  const detail = `${action.name} needs the feature "${action.feature}", which is not enabled for this account.`;
  return new Problem('feature-off', detail);
}

/** Throws a Problem (409) while the action's feature is not enabled for the caller's account. */
export function requireFeature(action: Action, caller: Caller): void {
  const problem = featureOff(action, caller);
  if (problem !== undefined) throw problem;
}

function isOnFor({ feature }: Action, { features }: Caller): boolean {
  return feature === undefined || features.includes(feature);
}

function unknownAction(name: string, actions: readonly Action[]): Problem {
  const listed = actions.map((action) => action.name);
  const names = nearestNames(name, listed, NEAREST).join(', ');
  return new Problem('unknown-action', `There is no action "${name}". The nearest are: ${names}.`);
}

/** RFC 9745 and RFC 8594. */
function announceDeprecation({ since, sunset }: { since: string; sunset: string }, response: Response): void {
  response.set('deprecation', `@${Math.floor(Date.parse(since) / 1_000)}`);
  response.set('sunset', new Date(sunset).toUTCString());
}

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
