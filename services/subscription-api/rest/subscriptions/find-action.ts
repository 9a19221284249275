import type { Action, Interface } from '@waybell/catalog/action';
import { nearestNames } from '@waybell/catalog/nearest-names';
import type { Response } from 'express';
import type { Caller } from '../authentication/authenticate.ts';
import { Problem } from '../http/problem.ts';

/** The actions of one interface, as its clients see them. */
export type ActionList = {
  /** What the caller can subscribe to: neither deprecated nor switched off for its account. */
  listFor(caller: Caller): Action[];
  /** The action of that name, deprecated or not; the response says if it is. Throws a Problem (404) that names the nearest. */
  find(name: string, response: Response): Action;
};

const NEAREST = 3;
const NAME_LIMIT = 100;

export function listActions(interfaceName: Interface, catalog: readonly Action[]): ActionList {
  const actions = catalog.filter((action) => action.interface === interfaceName);
  const byName = new Map(actions.map((action) => [action.name, action]));
  const current = actions.filter((action) => action.deprecated === undefined);
  return {
    listFor: (caller) => current.filter((action) => isOnFor(action, caller)),
    find(name, response) {
      const action = byName.get(name);
      if (action === undefined) throw unknownAction(name.slice(0, NAME_LIMIT), current);
      if (action.deprecated !== undefined) announceDeprecation(action.deprecated, response);
      return action;
    },
  };
}

/** Throws a Problem (409) while the action's feature is not enabled for the caller's account. */
export function requireFeature(action: Action, caller: Caller): void {
  if (isOnFor(action, caller)) return;
  const detail = `${action.name} needs the feature "${action.feature}", which is not enabled for this account.`;
  throw new Problem('feature-off', detail);
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
