import { createHash } from 'node:crypto';
import { carrierOrderKeys } from '@waybell/catalog/action';
import { actionKey, actions, findPublished, reports } from '@waybell/catalog/actions';
import { nearestNames } from '@waybell/catalog/names';
import { decodeBody, type EventMessage } from '@waybell/events/read-event';
import { readGuid } from '@waybell/events/timestamp';
import { isObject, type JsonValue, printable } from '@waybell/events/json';
import { type EventKey, KEY_PATTERN, keysIn, keysOf, unescaped } from '@waybell/events/event';
import type { InterfaceName } from '@waybell/line/outcomes';

/** The facts that could be read from an event that breaks the contract. */
export type RejectedEvent = {
  /** Upstream's guid in lower case, however it is spelled; undefined if unreadable. */
  guid: string | undefined;
  interface: InterfaceName | undefined;
  /** The action as upstream wrote it, without the interface if that is known, and fit for a table; may be empty. */
  action: string;
  /** `<interface>.<action>` from the body, else from the routing key, in lower case. */
  named: string;
  /** Its keys, except its own guid and those of its receivers. */
  keys: EventKey[];
  /** Account guids. */
  receivers: string[];
};

/** `<interface>.<action>` of everything that upstream may publish. */
const eventKeys = [...actions, ...reports].map(actionKey);
const knownKeys = new Set(eventKeys);
const KEY = /^(shipper|carrier)\s*\.(.*)$/is;
const MOST_RECEIVERS = 8;
/** Members searched for in a text that is no JSON object. */
const SOUGHT = ['guid', 'interface', 'action', 'specversion', 'id', 'type', 'message_id'];

/** Reads whatever can be read. Never throws for the event's content. */
export function readRejectedEvent(message: EventMessage, maxBytes: number): RejectedEvent {
  const text = textOf(message, maxBytes);
  const members = membersOf(text);
  const guid = guidIn(members, message);
  const receivers = receiversIn(members);
  const named = actionIn(routesOf(members, message));
  const others = keysAbout(members, named, text).filter(({ key }) => key !== guid && !receivers.includes(key));
  const messageGuid = readGuid(message.messageId);
  const isOther = messageGuid !== undefined && messageGuid !== guid;
  const keys = isOther ? [{ kind: 'message_id', key: messageGuid }, ...others] : others;
  return { guid, ...named, keys, receivers };
}

/** Returns the key that the publisher most likely meant, if there is none of that name. */
export function nearestKey({ named }: Pick<RejectedEvent, 'named'>): string {
  const [nearest = ''] = nearestNames(named, eventKeys, 1);
  return nearest;
}

/**
 * Makes a guid for an event without one: the same for the same bytes. A UUID of version 8 (RFC 9562), which promises nothing
 * more.
 */
export function guidOfBytes({ body, routingKey = '' }: Pick<EventMessage, 'body' | 'routingKey'>): string {
  const bytes = createHash('sha256').update(`${routingKey}\n`).update(body).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Decodes as much as possible of bytes that are not text, or too many. Without NUL, UTF-16 in Latin letters is readable. */
function textOf(message: EventMessage, maxBytes: number): string {
  const decoded = decodeBody(message, maxBytes);
  const bytes = decoded.kind === 'bytes' ? decoded.bytes : message.body.subarray(0, maxBytes);
  return bytes.toString().replaceAll('\0', '');
}

/** Returns members by their names in lower case. */
function membersOf(text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return soughtIn(text);
  }
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? asMembers(json) : soughtIn(text);
}

/** Finds keys by the members that its action names, or that most actions name, as far as readable; and every guid in its text. */
function keysAbout(
  members: Record<string, unknown>,
  { interface: side, action }: NamedAction,
  text: string,
): EventKey[] {
  // Parsed from JSON.
  const payload = (members['payload'] ?? dataIn(members)['payload'] ?? null) as JsonValue;
  const names = findPublished(side ?? '', action)?.keys ?? carrierOrderKeys;
  const named = namedIn(isObject(payload) ? payload : {}, names, textIn(members, 'subject')).filter(isStorable);
  return [...named, ...keysIn(text, new Set(named.map(({ key }) => key)))];
}

function namedIn(...about: Parameters<typeof keysOf>): EventKey[] {
  try {
    return keysOf(...about);
  } catch (error) {
    // The event may have been rejected for its depth, which can exceed the stack.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

const WRITTEN = new RegExp(KEY_PATTERN, 'u');

const isStorable = ({ key }: EventKey): boolean => WRITTEN.test(key) && key.isWellFormed();

/** Finds the first member of each name anywhere: in broken text, a list, or JSON within a string. */
function soughtIn(text: string): Record<string, unknown> {
  const plain = unescaped(text);
  const found = SOUGHT.map((name) => [
    name,
    new RegExp(String.raw`\\*"${name}\\*"\s*:\s*\\*"([^"\\]{0,300})`, 'i').exec(plain)?.[1],
  ]);
  return Object.fromEntries(found);
}

function guidIn(members: Record<string, unknown>, { messageId }: EventMessage): string | undefined {
  const ofCloudEvent = members['specversion'] === undefined ? undefined : members['id'];
  const candidates = [members['guid'], ofCloudEvent, messageId, members['message_id'], members['id']];
  return candidates.map(readGuid).find((guid) => guid !== undefined);
}

/** Prefers an action that exists. */
function actionIn(keys: Routes): NamedAction {
  const key = keys.find((each) => knownKeys.has(each)) ?? keys.find((each) => KEY.test(each)) ?? keys[0];
  const [, interfaceName, action = key] = KEY.exec(key) ?? [];
  const [published, inBody = published] = keys;
  return { interface: interfaceOf(interfaceName), action: printable(action.trim()), named: inBody.toLowerCase() };
}

type NamedAction = Pick<RejectedEvent, 'interface' | 'action' | 'named'>;
type Routes = [string, ...string[]];

/** Returns the routing key, and the keys that the body names in either form. */
function routesOf(members: Record<string, unknown>, { routingKey = '' }: EventMessage): Routes {
  const [interfaceName, action, type] = ['interface', 'action', 'type'].map((name) => textIn(members, name));
  const inEnvelope =
    interfaceName === undefined && action === undefined ? [] : [`${interfaceName ?? ''}.${action ?? ''}`];
  return [routingKey.trim(), ...inEnvelope, ...(type === undefined ? [] : [type.trim()])];
}

function interfaceOf(name: string | undefined): InterfaceName | undefined {
  const folded = name?.toLowerCase();
  return folded === 'shipper' || folded === 'carrier' ? folded : undefined;
}

/** Finds receivers in the envelope, in either form. */
function receiversIn(members: Record<string, unknown>): string[] {
  const parties = asMembers(members['parties'] ?? dataIn(members)['parties']);
  const guids = Object.values(parties)
    .map(readGuid)
    .filter((guid) => guid !== undefined);
  return [...new Set(guids)].slice(0, MOST_RECEIVERS);
}

/** Returns the data of a CloudEvent: an object, JSON text, or JSON text in base64. */
function dataIn({ data, data_base64: base64 }: Record<string, unknown>): Record<string, unknown> {
  const text = typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString() : data;
  return typeof text === 'string' ? membersOf(text) : asMembers(text);
}

function asMembers(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name.trim().toLowerCase(), each]));
}

function textIn(members: Record<string, unknown>, name: string): string | undefined {
  const value = members[name];
  return typeof value === 'string' ? value.trim() : undefined;
}
