/** An event that keeps the contract with upstream; or why it does not (`Invalid`), and which of its members the contract does not know. */
import type { Action, PayloadMember } from '@waybell/catalog/action';
import { isObject, type JsonObject, pointerTo, printable } from './json.ts';
import type { JsonFault } from './read-json.ts';
import type { Timestamp } from './timestamp.ts';

/** An event that keeps the contract with upstream, ready to be announced. */
export type Event = {
  /** Lower case, as all guids here that are compared. */
  readonly guid: string;
  /** The action that subscribers know: for an ignored event, the `.ignored` one, whichever upstream wrote. */
  readonly action: Action;
  readonly occurredAt: Timestamp;
  /** Guids of the accounts that receive it, each once. */
  readonly receivers: readonly string[];
  readonly errorMessage: string | null;
  /** The payload as upstream sent it, members unknown to the action included. */
  readonly payload: JsonObject;
  /** The subject of a CloudEvent that has one. */
  readonly subject?: string;
  /** Unknown members of the envelope and of the payload. */
  readonly unknownMembers: UnknownMembers;
  /** SHA-256 of the body as published, hexadecimal: distinguishes a repeat from another event with the same guid. */
  readonly fingerprint: string;
};

/** Why an event is not one. A closed list: operators count and search by it. */
export type InvalidReason =
  | JsonFault
  | 'too_large'
  | 'unknown_encoding'
  | 'broken_gzip'
  | 'unknown_action'
  | 'routing_key_differs'
  | 'message_id_differs'
  | 'party_missing'
  | 'not_ignorable'
  | 'envelope_invalid'
  | 'payload_invalid';

export type Invalid = {
  readonly kind: 'invalid';
  readonly reason: InvalidReason;
  /** Describes the fault: its place, as a JSON pointer into the published body, and the expected value. */
  readonly detail: string;
  /** The pointer to the fault; absent if the body or the message as a whole is at fault. */
  readonly place?: string;
  /** `<interface>.<action>` as it says, where there is no such action. */
  readonly unknown?: string;
};

/**
 * Describes a fault at a place, safe for a log line. Shortens the place only: the expectation stays whole, however long the names
 * are.
 */
export function invalidAt(reason: InvalidReason, pointer: string, what: string): Invalid {
  const place = printable(pointer);
  return { kind: 'invalid', reason, place, detail: `${place}: ${what}` };
}

/** Members that the contract does not know: their number, and the places of the first few in the published body. */
type UnknownMembers = { readonly count: number; readonly places: readonly string[] };

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
