/** An event that keeps the contract with upstream; or why it does not (`Invalid`), and which of its members the contract does not know. */
import type { Action, PayloadMember, KeyMembers } from '@waybell/catalog/action';
import { isObject, type JsonObject, pointerTo, printable, digitsOf, isArray, type JsonValue } from './json.ts';
import type { JsonFault } from './read-json.ts';
import { type Timestamp, guidsOf, isGuid, lowerGuid } from './timestamp.ts';

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

/** A key of the object that an event is about: an order by its guid or number, a vehicle by its VIN. */
export type EventKey = {
  /** The kind of the key: `order_guid`, `order_id`, `vin`, `subject`. */
  readonly kind: string;
  /** The key as the event has it; a guid in lower case. */
  readonly key: string;
};

/** More than any action names: what an open payload holds must not swell the record of it. */
const MOST_GUIDS = 32;
const MOST_OTHERS = 16;
/** Longer than any number, VIN or subject that people ask by. */
export const LONGEST_KEY = 200;

/** Matches a key as people write it: not blank, nothing unprintable. */
export const KEY_PATTERN: string = `^(?=.*\\S)[^\\x00-\\x1f\\x7f-\\x9f]{1,${LONGEST_KEY}}$`;

/** A key as it is looked for: however it is spelled, and whatever is around it. */
export const normalizedKey = (text: string): string => text.trim().toLowerCase();

/**
 * Returns the keys of an event: every guid in its payload, the members that its action names as keys, and the `subject` of a
 * CloudEvent; each once, in order of appearance.
 */
export function keysOf(payload: JsonObject, members: KeyMembers, subject?: string): EventKey[] {
  const found = new Finder(members);
  found.findIn(payload, '');
  if (subject !== undefined) found.add('subject', subject);
  return found.keys;
}

/** Finds keys, as far as possible, in a text that could not be read as an event. */
export function keysIn(text: string, except: ReadonlySet<string>): EventKey[] {
  const found = new Finder({});
  for (const guid of guidsOf(unescaped(text).toLowerCase())) if (!except.has(guid)) found.add('guid', guid);
  return found.keys;
}

/** Returns the text of some JSON, broken or not, without escapes such as `\u0061`. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Names that say nothing without the object that they are in. */
const RELATIVE = new Set(['id', 'guid', 'number']);
/** Members with earlier and current versions of the top-level object. */
const TRANSPARENT = new Set(['before', 'after']);

class Finder {
  readonly keys: EventKey[] = [];
  readonly #members: KeyMembers;
  #guids = 0;

  constructor(members: KeyMembers) {
    this.#members = members;
  }

  /** `holder`: the name of the object, in the singular; empty at the top. */
  findIn(object: JsonObject, holder: string): void {
    for (const name in object) this.#findAt(name, object[name] ?? null, holder);
  }

  add(kind: string, text: string): void {
    const trimmed = text.trim();
    const isOfGuid: boolean = isGuid(trimmed);
    const key = isOfGuid ? lowerGuid(trimmed) : trimmed;
    if (key === '' || key.length > LONGEST_KEY) return;
    if (isOfGuid ? this.#guids === MOST_GUIDS : this.keys.length - this.#guids === MOST_OTHERS) return;
    if (isOfGuid ? this.#hasGuid(key) : this.#has(kind, normalizedKey(key))) return;
    if (isOfGuid) this.#guids += 1;
    this.keys.push({ kind, key });
  }

  /** The same guid under two names is one thing. */
  #hasGuid(guid: string): boolean {
    return this.keys.some(({ key }) => key === guid);
  }

  #has(kind: string, text: string): boolean {
    return this.keys.some((each) => each.kind === kind && normalizedKey(each.key) === text);
  }

  #findAt(name: string, value: JsonValue, holder: string): void {
    if (isArray(value)) for (const each of value) this.#findAt(singularOf(name), each, holder);
    else if (isObject(value)) this.findIn(value, TRANSPARENT.has(name) ? '' : name);
    else this.#addMember(name, value, holder);
  }

  #addMember(name: string, value: JsonValue, holder: string): void {
    const text = typeof value === 'string' ? value : digitsOf(value);
    if (text === undefined) return;
    const named = holder !== '' && RELATIVE.has(name) ? `${holder}_${name}` : name;
    // Names that every object has are none of the catalog's.
    const kind = Object.hasOwn(this.#members, named) ? this.#members[named] : undefined;
    if (kind !== undefined) this.add(kind, text);
    else if (isGuid(text)) this.add(named, text);
  }
}

const singularOf = (name: string): string => (name.length > 2 && name.endsWith('s') ? name.slice(0, -1) : name);
