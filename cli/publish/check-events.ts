import { actionKey } from '@waybell/catalog/actions';
import type { EventLimits } from '@waybell/events/read-event';
import type { Publication } from '@waybell/line/messages';
import { checkEvent } from '@waybell/rejected/check-event';
import type { EventText } from './split-events.ts';

/** An event ready to be published, and the line that it begins on. */
export type PublishableEvent = { line: number; publication: Publication };

/** The fault of the event that begins on a line, in the router's words. */
export type EventFault = { line: number; reason: string; detail: string };

/** A member that the contract with upstream does not know, by action and place, and the lines of the events that have it. */
export type Unknown = { action: string; place: string; lines: number[] };

export type CheckedFile = { events: PublishableEvent[]; faults: EventFault[]; unknown: Unknown[] };

/** Reads every event as the services would, so that rejections are known before anything is published. */
export function checkEvents(written: readonly EventText[], limits: EventLimits): CheckedFile {
  const events: PublishableEvent[] = [];
  const faults: EventFault[] = [];
  const unknown = new Map<string, Unknown>();
  const seen = new Map<string, { line: number; fingerprint: string }>();
  for (const { line, bytes: body } of written) {
    const checked = checkEvent(body, limits);
    if (checked.kind === 'invalid') {
      faults.push({ line, reason: checked.reason, detail: checked.detail });
      continue;
    }
    const { guid, action, fingerprint, unknownMembers } = checked.event;
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
    events.push({ line, publication: checked.publication });
  }
  return { events, faults, unknown: [...unknown.values()] };
}
