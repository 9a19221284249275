import type { AuditNode } from '@waybell/catalog/action';
import { isSameNumber } from '@waybell/events/json-decimal';
import { isArray, isObject, JsonNumber, type JsonObject, type JsonValue } from '@waybell/events/json';

type Sides = { readonly before: JsonObject | null; readonly after: JsonObject | null };

/**
 * What changed among the wanted fields, in the shape of the order (shipper-webhooks, Order and vehicle revision
 * notifications): each changed leaf is `{old_value, new_value}`, values as received. A leaf is anything but an object;
 * absent is null, and a field that is null on both sides is left out.
 */
export function changesAmong(nodes: readonly AuditNode[], sides: Sides, wanted: ReadonlySet<string>): JsonObject {
  const changes = new Map<string, JsonValue>();
  for (const node of nodes) {
    const change = changeAt(node, sides, wanted);
    if (change !== null) changes.set(node.announcedAs, change);
  }
  return changes;
}

/** Who made the change: members of the carrier, or the user's guid, or nothing where the system did. */
export function actorOf(revision: JsonObject): JsonObject {
  const carrier = revision.get('carrier');
  const names = isObject(carrier) ? carrierNames : userNames;
  const source = isObject(carrier) ? carrier : revision;
  const members = new Map<string, JsonValue>();
  for (const [name, announcedAs] of names) {
    const value = source.get(name);
    if (value !== undefined) members.set(announcedAs, value);
  }
  return members;
}

const userNames = new Map([['user_guid', 'user_guid']]);
const carrierNames = new Map([
  ['phone', 'carrier_phone'],
  ['name', 'carrier_name'],
  ['contact_name', 'carrier_contact_name'],
  ['email', 'carrier_email'],
  ['guid', 'carrier_guid'],
]);

function changeAt(node: AuditNode, { before, after }: Sides, wanted: ReadonlySet<string>): JsonValue | null {
  const oldValue = before?.get(node.name) ?? null;
  const newValue = after?.get(node.name) ?? null;
  if (node.field !== null) return wanted.has(node.field) ? difference(oldValue, newValue) : null;
  const sides = { before: isObject(oldValue) ? oldValue : null, after: isObject(newValue) ? newValue : null };
  const changes = changesAmong(node.nodes, sides, wanted);
  return changes.size > 0 ? changes : null;
}

/** Null when both are the same. Goes into objects, so that what it tells are leaves. */
function difference(oldValue: JsonValue, newValue: JsonValue): JsonValue | null {
  if (!isObjectOrNull(oldValue) || !isObjectOrNull(newValue)) {
    return isSame(oldValue, newValue)
      ? null
      : new Map([
          ['old_value', oldValue],
          ['new_value', newValue],
        ]);
  }
  const changes = new Map<string, JsonValue>();
  for (const name of namesIn(oldValue, newValue)) {
    const change = difference(oldValue?.get(name) ?? null, newValue?.get(name) ?? null);
    if (change !== null) changes.set(name, change);
  }
  return changes.size > 0 ? changes : null;
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one instanceof JsonNumber) return other instanceof JsonNumber && isSameNumber(one.text, other.text);
  if (isArray(one)) {
    return (
      isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index] ?? null))
    );
  }
  if (isObject(one)) {
    return (
      isObject(other) &&
      [...namesIn(one, other)].every((name) => isSame(one.get(name) ?? null, other.get(name) ?? null))
    );
  }
  return one === other;
}

function namesIn(one: JsonObject | null, other: JsonObject | null): ReadonlySet<string> {
  return new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])]);
}

function isObjectOrNull(value: JsonValue): value is JsonObject | null {
  return value === null || isObject(value);
}
