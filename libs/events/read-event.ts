import { hash } from 'node:crypto';
import type { Action, Party } from '@waybell/catalog/action';
import { actionKey, actions, findAction } from '@waybell/catalog/actions';
import { nearestNames } from '@waybell/catalog/names';
import { envelopeNames } from '@waybell/catalog/schemas';
import { checkSchema } from './check-schema.ts';
import { type Event, type Invalid, invalidAt, UnknownFinder } from './event.ts';
import { lowerGuid, readTimestamp } from './timestamp.ts';
import { isObject, type JsonObject, type JsonValue, printable, toPlain } from './json.ts';
import { readJson } from './read-json.ts';
import { gunzipSync } from 'node:zlib';

/** The parts of an AMQP message that an event is read from. */
export type EventMessage = {
  readonly body: Buffer;
  /** Not compared with the body where it is not known any more. */
  readonly routingKey?: string;
  readonly messageId?: string | undefined;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
};
export type EventLimits = { readonly maxBytes: number; readonly maxDepth: number };
export type EventReading = { readonly kind: 'event'; readonly event: Event } | Invalid;

type FindAction = (interfaceName: string, name: string) => Action | undefined;

/**
 * Reads an event from upstream. Anything that breaks the contract is `invalid`, with the place of the fault. `find` knows the
 * accepted events: by default all actions that clients can subscribe to.
 */
export function readEvent(message: EventMessage, limits: EventLimits, find: FindAction = findAction): EventReading {
  const foreign = refuseFormat(message.contentType);
  if (foreign !== undefined) return foreign;
  const decoded = decodeBody(message, limits.maxBytes);
  if (decoded.kind === 'invalid') return decoded;
  const json = readJson(decoded.bytes, limits.maxDepth);
  if (json.kind === 'invalid') return json;
  const envelope = openEnvelope(json, limits.maxDepth, message.contentType);
  if (envelope.kind === 'invalid') return envelope;
  const named = namedAction(envelope, find);
  if (named.kind === 'invalid') return named;
  const { action } = named;
  if (message.routingKey !== undefined && message.routingKey !== actionKey(action)) {
    const detail = `the routing key is "${message.routingKey}", but the body is of ${actionKey(action)}`;
    return { kind: 'invalid', reason: 'routing_key_differs', detail: printable(detail) };
  }
  const breach = checkSchema(action, envelope.isPlain ? envelope.members : toPlain(envelope.members));
  if (breach !== null) {
    return invalidAt(breach.reason, envelope.placeOf(breach.place), breach.message);
  }
  const event = eventOf(envelope, action, hash('sha256', message.body));
  const { messageId = event.guid } = message;
  if (messageId !== event.guid && messageId.toLowerCase() !== event.guid) {
    const what = `is ${event.guid}, but message_id is "${messageId}"`;
    return invalidAt('message_id_differs', envelope.placeOf('/guid'), printable(what));
  }
  return { kind: 'event', event };
}

function namedAction({ members, placeOf }: Envelope, find: FindAction): { kind: 'action'; action: Action } | Invalid {
  const interfaceName = members['interface'];
  const name = members['action'];
  if (typeof interfaceName !== 'string') return noText(placeOf('/interface'), interfaceName);
  if (typeof name !== 'string') return noText(placeOf('/action'), name);
  const action = find(interfaceName, name);
  if (action !== undefined) return { kind: 'action', action };
  const namesakes = actions.filter((each) => each.interface === interfaceName).map((each) => each.name);
  const [nearest] = nearestNames(name, namesakes, 1);
  const hint = nearest === undefined ? '' : `; the nearest is ${nearest}`;
  const what = `there is no action "${name}" on the interface "${interfaceName}"${hint}`;
  return { ...invalidAt('unknown_action', placeOf('/action'), printable(what)), unknown: `${interfaceName}.${name}` };
}

/** In the words of the schema, which is not known before the action. */
function noText(place: string, value: JsonValue | undefined): Invalid {
  return invalidAt('envelope_invalid', place, value === undefined ? 'is missing' : 'must be string');
}

const partyNames = new Set<string>(['shipper', 'broker', 'carrier'] satisfies Party[]);

/** The envelope has passed its schema, so that its members are of their types. */
function eventOf({ members, unknownMembers, placeOf, subject }: Envelope, named: Action, fingerprint: string): Event {
  const parties = members['parties'];
  const payload = members['payload'];
  const occurredAt = readTimestamp(textIn(members, 'occurred_at'));
  if (!isObject(parties) || !isObject(payload) || occurredAt === null) throw new Error('the schema let it pass');
  const action = members['ignored'] === true ? ignoredVariant(named) : named;
  const errorMessage = members['error_message'];
  unknownMembers.find(parties, placeOf('/parties'), partyNames);
  unknownMembers.findInPayload(payload, placeOf('/payload'), named);
  const needed = named.receivers.map((party) => lowerGuid(textIn(parties, party)));
  const event: Event = {
    guid: lowerGuid(textIn(members, 'guid')),
    action,
    occurredAt,
    receivers: needed.length === 1 ? needed : [...new Set(needed)],
    errorMessage: typeof errorMessage === 'string' ? errorMessage : null,
    payload,
    unknownMembers,
    fingerprint,
  };
  return subject === undefined ? event : { ...event, subject };
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

function ignoredVariant(action: Action): Action {
  return findAction(action.interface, `${action.name}.ignored`) ?? action;
}

/** An event's envelope, whichever of its two forms it came in. */
type Envelope = {
  readonly kind: 'envelope';
  readonly members: JsonObject;
  /** No number among the members needs an exact form. */
  readonly isPlain: boolean;
  /** The subject of a CloudEvent. */
  readonly subject?: string;
  /** Unknown members found so far. */
  readonly unknownMembers: UnknownFinder;
  /** The place of a member of the envelope in the published body: `/guid` of a CloudEvent is `/id`. */
  readonly placeOf: (pointer: string) => string;
};

const names = new Set(envelopeNames);
const cloudEventNames = new Set(
  ['specversion', 'id', 'source', 'type', 'time', 'subject'].concat([
    'data',
    'data_base64',
    'datacontenttype',
    'dataschema',
  ]),
);
const namesInData = ['parties', 'payload', 'ignored', 'error_message'];
const dataNames = new Set(namesInData);
const cloudEventPlaces = new Map([
  ['guid', '/id'],
  ['interface', '/type'],
  ['action', '/type'],
  ['occurred_at', '/time'],
]);

const CLOUD_EVENT = 'application/cloudevents+json';
const ANY_CLOUD_EVENT = /^\s*application\/cloudevents/i;

/** Returns the rejection of a batch, or of a CloudEvent in another format; its text says how to publish instead. */
function refuseFormat(contentType: string | undefined): Invalid | undefined {
  if (!isAnyCloudEvent(contentType)) return undefined;
  const type = mediaType(contentType);
  if (!type.includes('+') || type === CLOUD_EVENT) return undefined;
  const what = type.includes('-batch') ? 'publish each event in a message of its own' : 'publish it in JSON';
  const detail = `content_type "${type}" is not read: ${what}, with content_type ${CLOUD_EVENT}`;
  return { kind: 'invalid', reason: 'envelope_invalid', detail: printable(detail) };
}

type Json = { value: JsonValue; isPlain: boolean };

/** Finds the envelope in a message body: its own form, or a CloudEvent 1.0 in structured JSON where the type says so. */
function openEnvelope({ value: body, isPlain }: Json, maxDepth: number, contentType?: string): Envelope | Invalid {
  if (!isObject(body))
    return { kind: 'invalid', reason: 'envelope_invalid', detail: 'the body: must be a JSON object' };
  if (isAnyCloudEvent(contentType) && mediaType(contentType) === CLOUD_EVENT)
    return openCloudEvent({ body, isPlain }, maxDepth);
  if ('specversion' in body && !('guid' in body)) {
    return invalid('/specversion', `is of a CloudEvent: publish it with content_type ${CLOUD_EVENT}`);
  }
  const unknownMembers = new UnknownFinder();
  unknownMembers.find(body, '', names);
  return { kind: 'envelope', members: body, isPlain, unknownMembers, placeOf: asItIs };
}

const asItIs = (pointer: string): string => pointer;

function openCloudEvent(
  { body, isPlain }: { body: JsonObject; isPlain: boolean },
  maxDepth: number,
): Envelope | Invalid {
  if (body['specversion'] !== '1.0') return invalid('/specversion', 'must be "1.0"');
  const { type } = body;
  if (typeof type !== 'string') return invalid('/type', 'must be a text, <interface>.<action>');
  const opened = openData(body, maxDepth);
  if (opened.kind === 'invalid') return opened;
  const { data, place } = opened;
  const dot = type.indexOf('.');
  const members: Record<string, JsonValue> = {
    interface: type.slice(0, Math.max(dot, 0)),
    action: type.slice(dot + 1),
  };
  copy({ from: body, name: 'id', to: members, as: 'guid' });
  copy({ from: body, name: 'time', to: members, as: 'occurred_at' });
  for (const name of namesInData) copy({ from: data, name, to: members, as: name });
  const unknownMembers = new UnknownFinder();
  unknownMembers.find(body, '', cloudEventNames);
  unknownMembers.find(data, place, dataNames);
  const { subject } = body;
  return {
    kind: 'envelope',
    members,
    isPlain: isPlain && opened.isPlain,
    unknownMembers,
    placeOf: (pointer) => placeInCloudEvent(pointer, place),
    ...(typeof subject === 'string' && { subject }),
  };
}

/** `place`: of the data in the published body. */
type Data = { kind: 'data'; data: JsonObject; place: string; isPlain: boolean };

const WANTED = 'must be an object that holds parties and payload';
const BASE64 = /^[A-Za-z0-9+/_=\s-]*$/;

/**
 * Finds the data, in whichever way the CloudEvent has it: as an object, as a text of JSON that is one, or as that in base64
 * (CloudEvents 1.0, JSON format, 3.1).
 */
function openData(body: JsonObject, maxDepth: number): Data | Invalid {
  const { data = null, data_base64: base64 = null } = body;
  const has = { body, levels: maxDepth - 1 };
  if (base64 === null && isObject(data)) return { kind: 'data', data, place: '/data', isPlain: true };
  if (base64 === null && typeof data === 'string') return readData(Buffer.from(data), { ...has, place: '/data' });
  if (base64 === null) return invalid('/data', WANTED);
  const place = '/data_base64';
  if (data !== null) return invalid(place, 'is there beside data: publish one of them');
  if (typeof base64 !== 'string' || !BASE64.test(base64)) return invalid(place, 'must be base64 of JSON');
  return readData(Buffer.from(base64, 'base64'), { ...has, place });
}

/** Reads data that is JSON within JSON: `levels` deep at most. */
function readData(bytes: Buffer, at: { body: JsonObject; levels: number; place: string }): Data | Invalid {
  const { body, levels, place } = at;
  const decoded = toUtf8(bytes);
  const json = decoded.kind === 'bytes' ? readJson(decoded.bytes, levels) : decoded;
  if (json.kind === 'value' && isObject(json.value))
    return { kind: 'data', data: json.value, place, isPlain: json.isPlain };
  if (json.kind === 'value') return invalid(place, WANTED);
  const type = body['datacontenttype'];
  if (typeof type === 'string' && !/[/+]json$/.test(mediaType(type)))
    return invalid('/datacontenttype', printable(`is "${type}", and so is the data: publish data in JSON`));
  return invalidAt(json.reason, place, `${WANTED}: ${json.detail}`);
}

function copy(step: { from: JsonObject; name: string; to: Record<string, JsonValue>; as: string }): void {
  const value = step.from[step.name];
  if (value !== undefined) step.to[step.as] = value;
}

function placeInCloudEvent(pointer: string, dataPlace: string): string {
  const [, name = ''] = pointer.split('/', 2);
  return cloudEventPlaces.get(name) ?? dataPlace + pointer;
}

function isAnyCloudEvent(contentType: string | undefined): contentType is string {
  return contentType !== undefined && ANY_CLOUD_EVENT.test(contentType);
}

function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function invalid(place: string, what: string): Invalid {
  return invalidAt('envelope_invalid', place, what);
}

/** A header of 10 bytes, and 8 at the end, of which the last four are the original length. */
const SMALLEST_GZIP = 18;

type Decoded = { kind: 'bytes'; bytes: Buffer } | Invalid;

/**
 * The body without its content encoding and in UTF-8, at most `maxBytes` long before and after that; a gzip bomb is not inflated
 * beyond it.
 */
export function decodeBody(message: Packed, maxBytes: number): Decoded {
  const unpacked = unpack(message, maxBytes);
  const decoded = unpacked.kind === 'bytes' ? toUtf8(unpacked.bytes) : unpacked;
  return decoded.kind === 'bytes' && decoded.bytes.length > maxBytes ? tooLarge(maxBytes) : decoded;
}

function unpack(message: Packed, maxBytes: number): Decoded {
  const encoding = message.contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip') return gunzip(message.body, maxBytes);
  // Some clients name the character set here; which it is, is seen from the bytes.
  if (!/^(?:|identity|utf-?(?:8|16(?:le|be)?))$/.test(encoding)) {
    const detail = `content_encoding "${encoding}" is not known: publish plain JSON or gzip`;
    return { kind: 'invalid', reason: 'unknown_encoding', detail };
  }
  return message.body.length > maxBytes ? tooLarge(maxBytes) : { kind: 'bytes', bytes: message.body };
}

type Packed = { body: Buffer; contentEncoding?: string | undefined };

/**
 * Returns the size of the body without its content encoding, in bytes, as its header claims; reads nothing if that exceeds
 * `maxBytes`.
 */
export function unpackedBytes(packed: Packed, maxBytes: number): number {
  const { body, contentEncoding = '' } = packed;
  const isGzip = contentEncoding.trim().toLowerCase() === 'gzip';
  return isGzip ? Math.max(body.length, Math.min(saidIn(body), maxBytes)) : body.length;
}

/** Reads the original length from the last four bytes of a gzip stream. */
function saidIn(gzip: Buffer): number {
  return gzip.length < SMALLEST_GZIP ? 0 : gzip.readUInt32LE(gzip.length - 4);
}

function gunzip(body: Buffer, maxBytes: number): Decoded {
  const said = saidIn(body);
  try {
    return { kind: 'bytes', bytes: gunzipSync(body, { maxOutputLength: Math.max(1, Math.min(said, maxBytes)) }) };
  } catch (error) {
    const isLonger =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isLonger && said > maxBytes) return tooLarge(maxBytes);
    const detail = isLonger
      ? `content_encoding is gzip, and more is in the body than the ${said} bytes that it says at its end`
      : 'content_encoding is gzip, but the body is not a whole gzip stream';
    return { kind: 'invalid', reason: 'broken_gzip', detail };
  }
}

function tooLarge(maxBytes: number): Invalid {
  const detail = `the body is longer than ${maxBytes} bytes (after gunzip, where it is compressed, and in UTF-8)`;
  return { kind: 'invalid', reason: 'too_large', detail };
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'UTF-32';

/**
 * Converts a JSON document to UTF-8 without a byte order mark. Recognises UTF-16 by its mark, or by the zeros in the first
 * characters of a document (RFC 4627, 3), whatever its content type claims. Refuses UTF-32 and broken UTF-16. `readJson` checks
 * that other bytes are UTF-8.
 */
export function toUtf8(bytes: Buffer): { kind: 'bytes'; bytes: Buffer } | Invalid {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return { kind: 'bytes', bytes };
  if (encoding === 'utf-8') return { kind: 'bytes', bytes: bytes.subarray(UTF8_MARK.length) };
  try {
    if (encoding === 'UTF-32') return refused(encoding, '');
    return { kind: 'bytes', bytes: Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes)) };
  } catch {
    return refused(encoding.toUpperCase(), ', and broken');
  }
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** First bytes of a document that is an object or a list. */
const BEGINNINGS = new Set(Buffer.from('{[ \t\r\n'));

/** Undefined where nothing is to be done about it. */
function encodingOf(bytes: Buffer): Encoding | undefined {
  // Destructuring would make an iterator.
  const one = bytes[0] ?? 1;
  const two = bytes[1] ?? 1;
  const three = bytes[2] ?? 1;
  const four = bytes[3] ?? 1;
  if (one === 0xef) return UTF8_MARK.equals(bytes.subarray(0, UTF8_MARK.length)) ? 'utf-8' : undefined;
  if (one === 0xff && two === 0xfe) return three === 0 && four === 0 ? 'UTF-32' : 'utf-16le';
  if (one === 0xfe && two === 0xff) return 'utf-16be';
  if (one === 0 && two === 0) return 'UTF-32';
  if (one === 0) return BEGINNINGS.has(two) ? 'utf-16be' : undefined;
  if (two !== 0 || !BEGINNINGS.has(one)) return undefined;
  return three === 0 ? 'UTF-32' : 'utf-16le';
}

function refused(encoding: string, how: string): Invalid {
  const detail = `the body is in ${encoding}${how}: write it in UTF-8`;
  return { kind: 'invalid', reason: 'not_utf8', detail };
}
