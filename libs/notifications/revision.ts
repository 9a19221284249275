import type { AuditNode } from '@waybell/catalog/action';
import { isSameNumber } from '@waybell/events/json-decimal';
import { digitsOf, isArray, isObject, type JsonObject, type JsonValue, objectOf } from '@waybell/events/json';

type Sides = { readonly before: JsonObject | null; readonly after: JsonObject | null };

/**
 * Returns the changes among the wanted fields, in the shape of the order (shipper-webhooks, Order and vehicle revision
 * notifications): each changed leaf is `{old_value, new_value}`, values as received. A leaf is anything but an object; absent is
 * null, and a field that is null on both sides is left out. Null if nothing changed.
 */
export function changesAmong(
  nodes: readonly AuditNode[],
  sides: Sides,
  wanted: ReadonlySet<string>,
): JsonObject | null {
  const changes = new Map<string, JsonValue>();
  for (const node of nodes) {
    const change = changeAt(node, sides, wanted);
    if (change !== null) changes.set(node.announcedAs, change);
  }
  return changes.size > 0 ? objectOf(changes) : null;
}

function changeAt(node: AuditNode, { before, after }: Sides, wanted: ReadonlySet<string>): JsonValue | null {
  const oldValue = valueOf(node, before);
  const newValue = valueOf(node, after);
  if (node.field !== null) return wanted.has(node.field) ? difference(oldValue, newValue) : null;
  const sides = { before: isObject(oldValue) ? oldValue : null, after: isObject(newValue) ? newValue : null };
  return changesAmong(node.nodes, sides, wanted);
}

/** The value under any of its names. */
function valueOf({ name, announcedAs }: AuditNode, side: JsonObject | null): JsonValue {
  return side?.[name] ?? side?.[announcedAs] ?? null;
}

/** Returns null if both are the same. Descends into objects, so that the changes are leaves. */
function difference(oldValue: JsonValue, newValue: JsonValue): JsonValue | null {
  if (!isObjectOrNull(oldValue) || !isObjectOrNull(newValue)) {
    return isSame(oldValue, newValue) ? null : { old_value: oldValue, new_value: newValue };
  }
  const changes = new Map<string, JsonValue>();
  for (const name of namesIn(oldValue, newValue)) {
    const change = difference(ownIn(oldValue, name), ownIn(newValue, name));
    if (change !== null) changes.set(name, change);
  }
  return changes.size > 0 ? objectOf(changes) : null;
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  const [digits, otherDigits] = [digitsOf(one), digitsOf(other)];
  if (digits !== undefined) return otherDigits !== undefined && isSameNumber(digits, otherDigits);
  if (isArray(one)) {
    return (
      isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index] ?? null))
    );
  }
  if (isObject(one)) {
    return isObject(other) && [...namesIn(one, other)].every((name) => isSame(ownIn(one, name), ownIn(other, name)));
  }
  return false;
}

function namesIn(one: JsonObject | null, other: JsonObject | null): ReadonlySet<string> {
  return new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
}

/** Names of a free object may be such as every JavaScript object knows. */
function ownIn(object: JsonObject | null, name: string): JsonValue {
  return object !== null && Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

function isObjectOrNull(value: JsonValue): value is JsonObject | null {
  return value === null || isObject(value);
}
