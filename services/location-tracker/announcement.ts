import { v5 } from 'uuid';
import { writeJson, type JsonObject } from '@waybell/events/json';
import type { Timestamp } from '@waybell/events/timestamp';
import type { Publication } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';

export type Announcement = {
  /** Guid of what caused it: a report, or a group of vehicles that fell silent together. */
  cause: string;
  action: 'vehicle.gps_activated' | 'vehicle.gps_deactivated' | 'vehicle.driver_location_updated';
  occurredAt: Timestamp;
  /** Account guid. */
  shipper: string;
  payload: JsonObject;
  /** The trace that it belongs to. */
  traceparent?: string;
};

/**
 * The event that announces it, as upstream would publish it. Its guid is a UUIDv5, with the guid of the cause as
 * namespace and everything else as name: announced again it is the same event, and the router recognises it. If it is
 * not quite the same (the address was found only the second time), it is another.
 */
export function publishAnnouncement(announcement: Announcement): Publication {
  const { cause, action, occurredAt, shipper, payload, traceparent } = announcement;
  const content = writeJson({
    interface: 'shipper',
    action,
    occurred_at: `${occurredAt.second}.${occurredAt.nanoseconds}Z`,
    parties: { shipper },
    payload,
  });
  // As bytes: the package takes text only for namespaces of the versions it knows.
  const guid = v5(content, Buffer.from(cause.replaceAll('-', ''), 'hex'));
  return {
    kind: 'publish',
    exchange: eventsExchange,
    routingKey: `shipper.${action}`,
    body: Buffer.from(`{"guid":"${guid}",${content.slice(1)}`),
    messageId: guid,
    contentType: 'application/json',
    ...(traceparent !== undefined && { headers: { traceparent } }),
  };
}
