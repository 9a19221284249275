/**
 * The bodies that receivers get, as both specifications say. A revision has two forms: the plain one, and one with the changes of the
 * fields that a subscription is limited to (`changesAmong`).
 */
import type { AuditNode, PayloadMember, RevisionMember } from '@waybell/catalog/action';
import { auditFieldOf } from '@waybell/catalog/audit-fields';
import type { Event } from '@waybell/events/event';
import {
  digitsOf,
  isArray,
  isObject,
  isSameNumber,
  type JsonObject,
  type JsonValue,
  objectOf,
  writeJson,
} from '@waybell/events/json';
import { readTimestamp, writeTimestamp } from '@waybell/events/timestamp';
import { hash } from 'node:crypto';

/** A subscription's part in its notification: the fields it is limited to (null: the plain form), and the message's guid. */
export type NotificationTarget = { readonly auditFieldSet: readonly string[] | null; readonly messageGuid: string };

/** The exact bytes to send, which several targets may share; or the rule by which nothing is sent. */
export type Notification =
  | { readonly kind: 'notification'; readonly body: Buffer }
  | { readonly kind: 'suppressed'; readonly reason: 'links_missing' | 'no_audited_change' };

/**
 * Writes what subscribers get, as both specifications say: common members first, then the action's own in the order of
 * its table. What targets of one event have in common is written once, by what this returns.
 */
export function notify(event: Event): (target: NotificationTarget) => Notification {
  const { payload } = event.action;
  switch (payload.kind) {
    case 'data':
      return carrierAnnouncer(event, payload.members);
    case 'revision':
      return revisionAnnouncer(event, payload.members, payload.revision);
    case 'listed':
      return toAll(
        areLinked(event, payload.links) ? shipperNotification(event, listed(event.payload, payload.members)) : UNLINKED,
      );
    case 'open':
      return toAll(shipperNotification(event, all(event.payload, payload.members)));
  }
}

const UNLINKED = { kind: 'suppressed', reason: 'links_missing' } as const;

/** Sent only when every link is available (shipper-webhooks, Order notifications). */
function areLinked({ payload }: Event, links: readonly string[] | undefined): boolean {
  return links === undefined || links.every((link) => (payload[link] ?? '') !== '');
}

function toAll(same: Notification): () => Notification {
  return () => same;
}

function carrierAnnouncer(
  event: Event,
  members: readonly PayloadMember[] | null,
): (target: NotificationTarget) => Notification {
  const tail = once(() => {
    const data = members === null ? writeJson(event.payload) : `{${listed(event.payload, members).slice(1)}}`;
    return `","occurred_at":"${writeTimestamp(event.occurredAt, 'microseconds')}","data":${data}}`;
  });
  const tailBytes = once(() => Buffer.from(tail()));
  return ({ messageGuid: guid }) => {
    const head = `{"action":"${event.action.name}","guid":"${guid}`;
    if (tail().length < LARGE_CHARACTERS) return notification(head + tail());
    return { kind: 'notification', body: Buffer.concat([Buffer.from(head), tailBytes()]) };
  };
}

/** Copies of a text this long, one for each target, would stay in memory for longer than its bytes. */
const LARGE_CHARACTERS = 2 ** 14;

function revisionAnnouncer(
  event: Event,
  targets: readonly PayloadMember[],
  { change, auditTree }: RevisionMember,
): (target: NotificationTarget) => Notification {
  const guids = once(() => listed(event.payload, targets));
  const plain = once(() => shipperNotification(event, guids()));
  const revision = objectIn(event.payload, 'revision');
  // Old values of something new, and new ones of something deleted, are null whatever the event says.
  const before = change === 'created' ? null : objectIn(revision, 'before');
  const after = change === 'deleted' ? null : objectIn(revision, 'after');
  const shared = once(() => guids() + member('revision_guid', revision['guid']) + actor(revision));
  return ({ auditFieldSet }) => {
    if (auditFieldSet === null) return plain();
    const data = changesAmong(auditTree, { before, after }, new Set(auditFieldSet.map(auditFieldOf)));
    if (change === 'modified' && data === null) return { kind: 'suppressed', reason: 'no_audited_change' };
    return shipperNotification(event, shared() + member('data', data ?? {}));
  };
}

// Members are written as what follows a member before: `,"name":value`, for each one that is there. What is null is not,
// but where the specification shows it.
function shipperNotification({ action, occurredAt, errorMessage }: Event, members: string): Notification {
  const actionDate = writeTimestamp(occurredAt, 'milliseconds');
  const error = writeJson(errorMessage);
  return notification(`{"action":"${action.name}","action_date":"${actionDate}","error_message":${error}${members}}`);
}

/** The listed members, in the order listed. */
function listed(object: JsonObject, members: readonly PayloadMember[]): string {
  let written = '';
  for (const { name, isTimestamp, isNullable, members: inner } of members) {
    const value = object[name];
    if (value === null && isNullable) written += `,"${name}":null`;
    else if (inner !== undefined && isObject(value)) written += `,"${name}":{${listed(value, inner).slice(1)}}`;
    else written += member(name, isTimestamp ? inUtc(value) : value);
  }
  return written;
}

/** The listed members, then all others as they came. */
function all(object: JsonObject, members: readonly PayloadMember[]): string {
  const others = Object.keys(object).filter((name) => !members.some((each) => each.name === name));
  return (
    listed(object, members) + others.map((name) => `,${writeJson(name)}:${writeJson(object[name] ?? null)}`).join('')
  );
}

/** The author of the change: members of the carrier, or the user's guid, or nothing where the system made it. */
function actor(revision: JsonObject): string {
  const { carrier } = revision;
  if (!isObject(carrier)) return member('user_guid', revision['user_guid']);
  return ['phone', 'name', 'contact_name', 'email', 'guid']
    .map((name) => member(`carrier_${name}`, carrier[name]))
    .join('');
}

function member(name: string, value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : `,"${name}":${writeJson(value)}`;
}

function inUtc(value: JsonValue | undefined): JsonValue | undefined {
  const timestamp = typeof value === 'string' ? readTimestamp(value) : null;
  return timestamp === null ? value : writeTimestamp(timestamp, 'milliseconds');
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

function notification(text: string): Notification {
  return { kind: 'notification', body: Buffer.from(text) };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

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

/**
 * No notification of an event of this many bytes is larger. Most are about as large as their event; but the revision form has an
 * old and a new value of each member of an object, so that `"a":1,` becomes `"a":{"old_value":null,"new_value":1},`.
 */
export function largestNotification(eventBytes: number): number {
  return Math.ceil(eventBytes * MOST_TIMES) + BESIDE_BYTES;
}

const MOST_TIMES = 6.2;
/** Common members, and those of the event's envelope. */
const BESIDE_BYTES = 1_024;

/** A namespace, and room for the name. */
const bytes = Buffer.alloc(16 + 36);

/** The text of a guid: parts that are joined would be garbage. */
const written = Buffer.from('........-....-5...-....-............', 'latin1');
const [VERSION_AT, VARIANT_AT, DASH] = [14, 19, 45];

/**
 * The guid of the message that announces an event to a subscription: UUIDv5 (RFC 9562, 5.5) with the event's guid as
 * namespace and the lower-case guid of the subscription as name, so that the same event always makes the same message.
 */
export function messageGuid(eventGuid: string, subscriptionGuid: string): string {
  const digits = messageDigits(eventGuid, subscriptionGuid);
  for (let at = 0, to = 0; at < 32; at += 1, to += 1) {
    if (to === VARIANT_AT) written[to] = '89ab'.charCodeAt(nibble(digits, at) & 3);
    else if (to !== VERSION_AT) written[to] = digits.charCodeAt(at);
    // A dash is there already.
    if (written[to + 1] === DASH) to += 1;
  }
  return written.toString('latin1');
}

/** Returns digits of which the first 12 are those of the message's guid. */
export function messageDigits(eventGuid: string, subscriptionGuid: string): string {
  writeNamespace(eventGuid);
  const end = 16 + bytes.write(subscriptionGuid.toLowerCase(), 16, 'latin1');
  return hash('sha1', end === bytes.length ? bytes : bytes.subarray(0, end));
}

function writeNamespace(guid: string): void {
  for (let at = 0, to = 0; to < 16; at += 2, to += 1) {
    if (guid[at] === '-') at += 1;
    bytes[to] = nibble(guid, at) * 16 + nibble(guid, at + 1);
  }
}

/** Returns the value of a hexadecimal digit of either case. */
function nibble(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + (code > 57 ? 9 : 0);
}
