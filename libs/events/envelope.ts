import { envelopeNames } from '@waybell/catalog/event-schema';
import { invalidAt, type Invalid } from './invalid-event.ts';
import { isObject, type JsonObject, type JsonValue } from './json.ts';
import { UnknownFinder } from './unknown-members.ts';

/** An event's envelope, whichever of its two forms it came in. */
export type Envelope = {
  readonly kind: 'envelope';
  readonly members: JsonObject;
  /** The subject of a CloudEvent: what it says that it is about. */
  readonly subject?: string;
  /** What was found of them by now. */
  readonly unknownMembers: UnknownFinder;
  /** The place of a member of the envelope in the published body: `/guid` of a CloudEvent is `/id`. */
  readonly placeOf: (pointer: string) => string;
};

const names = new Set(envelopeNames);
const cloudEventNames = new Set(
  ['specversion', 'id', 'source', 'type', 'time', 'data'].concat(['datacontenttype', 'dataschema', 'subject']),
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

/** Finds the envelope in a message body: its own form, or a CloudEvent 1.0 in structured JSON where the type says so. */
export function openEnvelope(body: JsonValue, contentType: string | undefined): Envelope | Invalid {
  if (!isObject(body))
    return { kind: 'invalid', reason: 'envelope_invalid', detail: 'the body: must be a JSON object' };
  if (mediaType(contentType) === CLOUD_EVENT) return openCloudEvent(body);
  if ('specversion' in body && !('guid' in body)) {
    return invalid('/specversion', `is of a CloudEvent: publish it with content_type ${CLOUD_EVENT}`);
  }
  const unknownMembers = new UnknownFinder();
  unknownMembers.find(body, '', names);
  return { kind: 'envelope', members: body, unknownMembers, placeOf: (pointer) => pointer };
}

function openCloudEvent(body: JsonObject): Envelope | Invalid {
  if (body['specversion'] !== '1.0') return invalid('/specversion', 'must be "1.0"');
  const [type, data] = [body['type'], body['data']];
  if (typeof type !== 'string') return invalid('/type', 'must be a text, <interface>.<action>');
  if (!isObject(data)) return invalid('/data', 'must be an object that holds parties and payload');
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
  unknownMembers.find(data, '/data', dataNames);
  const { subject } = body;
  return {
    kind: 'envelope',
    members,
    unknownMembers,
    placeOf: placeInCloudEvent,
    ...(typeof subject === 'string' && { subject }),
  };
}

function copy(step: { from: JsonObject; name: string; to: Record<string, JsonValue>; as: string }): void {
  const value = step.from[step.name];
  if (value !== undefined) step.to[step.as] = value;
}

function placeInCloudEvent(pointer: string): string {
  const [, name = ''] = pointer.split('/', 2);
  return cloudEventPlaces.get(name) ?? `/data${pointer}`;
}

function mediaType(contentType = ''): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function invalid(place: string, what: string): Invalid {
  return invalidAt('envelope_invalid', place, what);
}
