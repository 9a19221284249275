import { envelopeNames } from '@waybell/catalog/event-schema';
import { invalidAt, type Invalid } from './invalid-event.ts';
import { isObject, type JsonObject, type JsonValue } from './json.ts';
import { printable } from './json-pointer.ts';
import { readJson } from './read-json.ts';
import { toUtf8 } from './to-utf8.ts';
import { UnknownFinder } from './unknown-members.ts';

/** An event's envelope, whichever of its two forms it came in. */
export type Envelope = {
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
export function refuseFormat(contentType: string | undefined): Invalid | undefined {
  if (!isAnyCloudEvent(contentType)) return undefined;
  const type = mediaType(contentType);
  if (!type.includes('+') || type === CLOUD_EVENT) return undefined;
  const what = type.includes('-batch') ? 'publish each event in a message of its own' : 'publish it in JSON';
  const detail = `content_type "${type}" is not read: ${what}, with content_type ${CLOUD_EVENT}`;
  return { kind: 'invalid', reason: 'envelope_invalid', detail: printable(detail) };
}

type Json = { value: JsonValue; isPlain: boolean };

/** Finds the envelope in a message body: its own form, or a CloudEvent 1.0 in structured JSON where the type says so. */
export function openEnvelope(
  { value: body, isPlain }: Json,
  maxDepth: number,
  contentType?: string,
): Envelope | Invalid {
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
