import { hash } from 'node:crypto';
import type { Action, Party } from '@waybell/catalog/action';
import { actionKey, actions, findAction } from '@waybell/catalog/actions';
import { nearestNames } from '@waybell/catalog/nearest-names';
import { checkSchema } from './check-schema.ts';
import { decodeBody } from './decode-body.ts';
import { openEnvelope, refuseFormat, type Envelope } from './envelope.ts';
import type { Event } from './event.ts';
import { lowerGuid } from './guid.ts';
import { invalidAt, type Invalid } from './invalid-event.ts';
import { isObject, type JsonObject, type JsonValue, toPlain } from './json.ts';
import { printable } from './json-pointer.ts';
import { readJson } from './read-json.ts';
import { readTimestamp } from './timestamp.ts';

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

export type FindAction = (interfaceName: string, name: string) => Action | undefined;

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
