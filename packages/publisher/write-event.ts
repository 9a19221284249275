import { randomUUID } from 'node:crypto';
import type { Invalid } from '@waybell/events/event';
import { writeExact } from '@waybell/events/exact-json';
import { checkEvent } from '@waybell/rejected/check-event';
import { nearestKey } from '@waybell/rejected/read-rejected-event';
import type { Event } from './events.ts';
import { InvalidEvent } from './publish-errors.ts';

type EventFields<E> = E extends Event
  ? { [Name in keyof E as Exclude<Name, 'guid' | 'occurred_at'>]: E[Name] } & {
      /** Identifies the event: a random one unless given. */
      guid?: string | undefined;
      /** When it happened: now, unless given. A text is RFC 3339 with up to nine fractional digits. */
      occurred_at?: string | Date | undefined;
    }
  : never;

/** An event as one hands it over to be published: any of the catalog. */
export type EventInput = EventFields<Event>;

/** An event as it is sent: the same bytes each time. */
export interface WrittenEvent {
  guid: string;
  /** `<interface>.<action>` */
  routingKey: string;
  /** JSON. */
  body: Buffer;
}

/** Waybell's defaults. */
const LIMITS = { maxBytes: 1_048_576, maxDepth: 32 };

/** Fills in the guid and the time, and checks the event as Waybell will. Throws `InvalidEvent`. */
export function writeEvent(event: EventInput): WrittenEvent {
  const written = writeExact(filledIn(event), LIMITS.maxDepth);
  if (written.kind === 'invalid') throw refusal(written);
  const body = Buffer.from(written.text);
  const checked = checkEvent(body, LIMITS);
  if (checked.kind === 'invalid') throw refusal(checked);
  return { guid: checked.event.guid, routingKey: checked.publication.routingKey, body };
}

/** Leaves anything that is no event unchanged: the reader reports it. */
function filledIn(event: EventInput): unknown {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return event;
  const { guid = randomUUID(), interface: interfaceName, action, occurred_at = new Date(), ...rest } = event;
  return { guid, interface: interfaceName, action, occurred_at, ...rest };
}

function refusal({ reason, detail, place, unknown }: Invalid): InvalidEvent {
  const nearest = unknown === undefined ? undefined : nearestKey({ named: unknown });
  return new InvalidEvent({ reason, detail, place, nearest });
}
