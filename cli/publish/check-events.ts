import { eventsExchange } from '@waybell/line/topology';
import type { Publication } from '@waybell/line/messages';
import { actionKey, findPublished } from '@waybell/catalog/actions';
import { readEvent, type EventLimits } from '@waybell/events/read-event';
import type { Written } from './split-events.ts';

/** An event ready to be published, and the line that it begins on. */
export type CheckedEvent = { line: number; publication: Publication };

/** What is wrong with the event that begins on a line, in the router's own words. */
export type Fault = { line: number; reason: string; detail: string };

/** A member that the contract with upstream does not know, by action and place, and the lines of the events that have it. */
export type Unknown = { action: string; place: string; lines: number[] };

export type Checked = { events: CheckedEvent[]; faults: Fault[]; unknown: Unknown[] };

/** Reads every event as the services would, so that what it would reject is known before anything is published. */
export function checkEvents(written: readonly Written[], limits: EventLimits): Checked {
  const events: CheckedEvent[] = [];
  const faults: Fault[] = [];
  const unknown = new Map<string, Unknown>();
  const seen = new Map<string, { line: number; fingerprint: string }>();
  for (const { line, bytes: body } of written) {
    const envelope = glanceAt(body);
    const reading = readEvent({ body, ...envelope }, limits, findPublished);
    if (reading.kind === 'invalid') {
      faults.push({ line, reason: reading.reason, detail: reading.detail });
      continue;
    }
    const { guid, action, fingerprint, unknownMembers } = reading.event;
    for (const place of unknownMembers.places) {
      const same = unknown.get(`${actionKey(action)} ${place}`);
      if (same === undefined)
        unknown.set(`${actionKey(action)} ${place}`, { action: actionKey(action), place, lines: [line] });
      else same.lines.push(line);
    }
    const key = `${actionKey(action)} ${guid}`;
    const earlier = seen.get(key);
    if (earlier !== undefined && earlier.fingerprint !== fingerprint) {
      const detail = `/guid: on line ${earlier.line} another event has this guid: use a new one`;
      faults.push({ line, reason: 'guid_reused', detail });
      continue;
    }
    if (earlier === undefined) seen.set(key, { line, fingerprint });
    const { routingKey, contentType } = envelope;
    events.push({
      line,
      publication: { kind: 'publish', exchange: eventsExchange, routingKey, body, messageId: guid, contentType },
    });
  }
  return { events, faults, unknown: [...unknown.values()] };
}

/**
 * The routing key that the event itself names, and which of the two envelopes it wears. What cannot be told is left
 * empty: the reader says why.
 */
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
