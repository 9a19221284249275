import type { Action, PayloadMember } from '@waybell/catalog/action';
import { isObject, type JsonObject } from './json.ts';
import { pointerTo, printable } from './json-pointer.ts';

/** Members that the contract does not know: their number, and the places of the first few in the published body. */
export type UnknownMembers = { readonly count: number; readonly places: readonly string[] };

const MOST_PLACES = 10;

/** Finds them, and keeps no more than a few places: upstream may send thousands. */
export class UnknownFinder implements UnknownMembers {
  count = 0;
  readonly places: string[] = [];

  /** Notes the members of the object that are not `known`; `within` is its place. */
  find(object: JsonObject, within: string, known: { has(name: string): boolean }): void {
    for (const name in object) if (!known.has(name)) this.#add(within, name);
  }

  /** Notes the members of a payload that its action does not define: they are left out of the notification. */
  findInPayload(payload: JsonObject, within: string, action: Action): void {
    if (action.payload.kind === 'open' || action.payload.members === null) return;
    this.#findAmong(payload, within, membersOf(action));
  }

  #findAmong(object: JsonObject, within: string, members: readonly PayloadMember[]): void {
    const known = byName(members);
    for (const name in object) {
      const value = object[name];
      const member = known.get(name);
      if (member === undefined) this.#add(within, name);
      else if (member.members !== undefined && isObject(value)) {
        this.#findAmong(value, within + pointerTo(name), member.members);
      }
    }
  }

  #add(within: string, name: string): void {
    this.count += 1;
    if (this.places.length < MOST_PLACES) this.places.push(printable(within + pointerTo(name)));
  }
}

type KnownMembers = ReadonlyMap<string, PayloadMember>;

const knownMembers = new WeakMap<readonly PayloadMember[], KnownMembers>();
const payloadMembers = new WeakMap<Action, readonly PayloadMember[]>();

function membersOf(action: Action): readonly PayloadMember[] {
  const { payload } = action;
  if (payload.kind !== 'revision') return payload.members ?? [];
  const members = payloadMembers.get(action) ?? [...payload.members, payload.revision.member];
  payloadMembers.set(action, members);
  return members;
}

function byName(members: readonly PayloadMember[]): KnownMembers {
  const known = knownMembers.get(members) ?? new Map(members.map((member) => [member.name, member]));
  knownMembers.set(members, known);
  return known;
}
