import { v5 } from 'uuid';
import { writeJson, type JsonObject } from '@waybell/events/json';
import type { Timestamp } from '@waybell/events/timestamp';
import type { Publication } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';

export type Announcement = {
  /** Guid of the cause: a report, or a group of vehicles that fell silent together. */
  cause: string;
  action: 'vehicle.gps_activated' | 'vehicle.gps_deactivated' | 'vehicle.driver_location_updated';
  occurredAt: Timestamp;
  /** Account guid. */
  shipper: string;
  payload: JsonObject;
  traceparent?: string;
};

/**
 * Publishes the event as upstream would. Its guid is a UUIDv5 with the cause's guid as namespace and everything else as name:
 * announced again it is the same event, which the router recognises. If anything differs (the address was found only the second
 * time), it is another event.
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
  // In bytes: the package accepts text only for namespaces of the UUID versions it knows.
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
