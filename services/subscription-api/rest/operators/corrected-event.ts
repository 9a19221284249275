import type { Invalid } from '@waybell/events/event';
import type { EventLimits } from '@waybell/events/read-event';
import type { CheckedEvent } from '@waybell/rejected/check-event';
import type { Request, Response } from 'express';
import { invalidBody, jsonBytesReader, pointTo } from '../http/body.ts';
import type { Problem } from '../http/problem.ts';

/** An event that would be taken. */
export type CorrectedEvent = Extract<CheckedEvent, { kind: 'event' }>;

type ReadCorrected = (request: Request, response: Response) => Promise<CorrectedEvent>;

/** Reads a body as an event, by the rules of the line. Throws a Problem: as `jsonBytesReader`, or 422 with what is wrong with the event, and where. */
export function correctedEventReader(limits: EventLimits): ReadCorrected {
  const readEventBytes = jsonBytesReader(limits.maxBytes);
  return async (request, response) => {
    const body = await readEventBytes(request, response);
    // Few processes are ever asked, and the schemas of all events take their time and room.
    const { checkEvent } = await import('@waybell/rejected/check-event');
    const checked = checkEvent(body, limits);
    if (checked.kind === 'invalid') throw invalidEvent(checked);
    return checked;
  };
}

export function correctedView({ event, publication }: CorrectedEvent) {
  return {
    event_guid: event.guid,
    routing_key: publication.routingKey,
    unknown_members: event.unknownMembers.places,
  };
}

/** Says what was wrong, and where, as the router would. */
function invalidEvent({ reason, detail, place = '' }: Invalid): Problem {
  return invalidBody([{ pointer: pointTo(...place.split('/').slice(1)), detail: `${reason}: ${detail}` }]);
}
