import type { KeyMembers } from '@waybell/catalog/action';
import { guidsOf, isGuid, lowerGuid } from './guid.ts';
import { digitsOf, isArray, isObject, type JsonObject, type JsonValue } from './json.ts';

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
export const KEY_PATTERN = `^(?=.*\\S)[^\\x00-\\x1f\\x7f-\\x9f]{1,${LONGEST_KEY}}$`;

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
