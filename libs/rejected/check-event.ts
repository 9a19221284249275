import { findPublished } from '@waybell/catalog/actions';
import { decodeBody, type EventLimits, readEvent } from '@waybell/events/read-event';
import type { Event, Invalid } from '@waybell/events/event';
import type { Publication } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';

export type CheckedEvent = { kind: 'event'; event: Event; publication: Publication } | Invalid;

/**
 * Reads an event as the services would, to find faults before publishing. Events are published in UTF-8, with the routing key
 * that they name.
 */
export function checkEvent(written: Buffer, limits: EventLimits): CheckedEvent {
  const decoded = decodeBody({ body: written }, limits.maxBytes);
  if (decoded.kind === 'invalid') return decoded;
  const { bytes: body } = decoded;
  const envelope = glanceAt(body);
  const reading = readEvent({ body, ...envelope }, limits, findPublished);
  if (reading.kind === 'invalid') return reading;
  const { event } = reading;
  return {
    kind: 'event',
    event,
    publication: { kind: 'publish', exchange: eventsExchange, body, messageId: event.guid, ...envelope },
  };
}

/** Finds the routing key that the event names, and its kind of envelope. Leaves unknown parts empty: the reader reports why. */
function glanceAt(body: Buffer): { routingKey: string; contentType: string } {
  const json = parse(body);
  const isCloudEvent = 'specversion' in json;
  const key = isCloudEvent ? json['type'] : `${String(json['interface'])}.${String(json['action'])}`;
  return {
    routingKey: typeof key === 'string' ? key : '',
    contentType: isCloudEvent ? 'application/cloudevents+json' : 'application/json',
  };
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(body.toString());
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}
