import type { Member, RevisionMember } from '@waybell/catalog/action';
import type { Event } from '@waybell/events/event';
import { isObject, type JsonObject, type JsonValue, writeJson } from '@waybell/events/json';
import { actorOf, changesAmong } from './revision.ts';
import { readTimestamp, writeTimestamp } from '@waybell/events/timestamp';

/** A subscription's part in its notification: the fields it is limited to (null: the plain form), and the message's guid. */
export type Target = { readonly auditFieldSet: readonly string[] | null; readonly messageGuid: string };

/** The exact bytes to send, which several targets may share; or the rule by which nothing is sent. */
export type Notification =
  | { readonly kind: 'notification'; readonly body: Buffer }
  | { readonly kind: 'suppressed'; readonly reason: 'links_missing' | 'no_audited_change' };

const announcers = new WeakMap<Event, (target: Target) => Notification>();

/**
 * Writes what a subscriber gets, as both specifications say: common members first, then the action's own in the order
 * of its table. What targets of one event have in common is written once.
 */
export function notify(event: Event, target: Target): Notification {
  const announce = announcers.get(event) ?? announcerOf(event);
  announcers.set(event, announce);
  return announce(target);
}

function announcerOf(event: Event): (target: Target) => Notification {
  const { payload } = event.action;
  switch (payload.kind) {
    case 'data':
      return carrierAnnouncer(event, payload.members);
    case 'revision':
      return revisionAnnouncer(event, payload.members, payload.revision);
    case 'listed': {
      // Sent only when every link is available (shipper-webhooks, Order notifications).
      const isMissing = (link: string) => (event.payload.get(link) ?? null) === null;
      if (payload.links?.some(isMissing)) return () => ({ kind: 'suppressed', reason: 'links_missing' });
      return once(() => shipperNotification(event, announced(event.payload, payload.members)));
    }
    case 'open':
      return once(() => shipperNotification(event, openMembers(event.payload, payload.members)));
  }
}

function carrierAnnouncer(event: Event, members: readonly Member[] | null): (target: Target) => Notification {
  const data = members === null ? event.payload : new Map(announced(event.payload, members));
  const occurredAt = writeTimestamp(event.occurredAt, 'microseconds');
  const head = Buffer.from(`{"action":${JSON.stringify(event.action.name)},"guid":"`);
  const tail = Buffer.from(`","occurred_at":"${occurredAt}","data":${writeJson(data)}}`);
  return ({ messageGuid }) => notification(Buffer.concat([head, Buffer.from(messageGuid), tail]));
}

function revisionAnnouncer(
  event: Event,
  targets: readonly Member[],
  { change, auditTree }: RevisionMember,
): (target: Target) => Notification {
  const guids = announced(event.payload, targets);
  const plain = once(() => shipperNotification(event, guids));
  const revision = objectIn(event.payload, 'revision');
  // Old values of something new, and new ones of something deleted, are null whatever the event says.
  const before = change === 'created' ? null : objectIn(revision, 'before');
  const after = change === 'deleted' ? null : objectIn(revision, 'after');
  const revisionGuid = revision.get('guid');
  const shared = [
    ...guids,
    ...(revisionGuid === undefined ? [] : ([['revision_guid', revisionGuid]] as const)),
    ...actorOf(revision),
  ];
  return ({ auditFieldSet }) => {
    if (auditFieldSet === null) return plain();
    const data = changesAmong(auditTree, { before, after }, new Set(auditFieldSet));
    if (change === 'modified' && data.size === 0) return { kind: 'suppressed', reason: 'no_audited_change' };
    return shipperNotification(event, [...shared, ['data', data]]);
  };
}

type Entry = readonly [name: string, value: JsonValue];

function shipperNotification(event: Event, members: readonly Entry[]): Notification {
  const common: Entry[] = [
    ['action', event.action.name],
    ['action_date', writeTimestamp(event.occurredAt, 'milliseconds')],
    ['error_message', event.errorMessage],
  ];
  return notification(Buffer.from(writeJson(new Map([...common, ...members]))));
}

/** The listed members that are there, in the order listed. */
function announced(object: JsonObject, members: readonly Member[]): Entry[] {
  const entries: Entry[] = [];
  for (const member of members) {
    const value = object.get(member.name);
    if (value !== undefined) entries.push([member.name, announcedValue(value, member)]);
  }
  return entries;
}

/** The listed members, then all others as they came. */
function openMembers(object: JsonObject, members: readonly Member[]): Entry[] {
  const others = [...object].filter(([name]) => !members.some((member) => member.name === name));
  return [...announced(object, members), ...others];
}

function announcedValue(value: JsonValue, member: Member): JsonValue {
  if (member.members !== undefined && isObject(value)) return new Map(announced(value, member.members));
  const timestamp = member.isTimestamp && typeof value === 'string' ? readTimestamp(value) : null;
  return timestamp === null ? value : writeTimestamp(timestamp, 'milliseconds');
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object.get(name);
  return isObject(value) ? value : new Map();
}

function notification(body: Buffer): Notification {
  return { kind: 'notification', body };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
