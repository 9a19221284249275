import type { Action, Member } from '@waybell/catalog/action';
import { isObject, type JsonObject } from './json.ts';

type Known = ReadonlyMap<string, Member>;

const knownMembers = new WeakMap<readonly Member[], Known>();
const payloadMembers = new WeakMap<Action, readonly Member[]>();

/** How many members of a payload its action does not define: those that are left out of the notification. */
export function countUnknown(action: Action, payload: JsonObject): number {
  if (action.payload.kind === 'open' || action.payload.members === null) return 0;
  return countIn(payload, membersOf(action));
}

function countIn(object: JsonObject, members: readonly Member[]): number {
  const known = byName(members);
  let unknown = 0;
  for (const name of Object.keys(object)) {
    const value = object[name];
    const member = known.get(name);
    if (member === undefined) unknown += 1;
    else if (member.members !== undefined && isObject(value)) unknown += countIn(value, member.members);
  }
  return unknown;
}

function membersOf(action: Action): readonly Member[] {
  const { payload } = action;
  if (payload.kind !== 'revision') return payload.members ?? [];
  const members = payloadMembers.get(action) ?? [...payload.members, payload.revision.member];
  payloadMembers.set(action, members);
  return members;
}

function byName(members: readonly Member[]): Known {
  const known = knownMembers.get(members) ?? new Map(members.map((member) => [member.name, member]));
  knownMembers.set(members, known);
  return known;
}
