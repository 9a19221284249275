import type { Publication } from '@waybell/line/messages';
import { noticesExchange } from '@waybell/line/topology';

/** The notice that upstream gets of an event that was rejected; null where a member is unknown or missing. */
export type Notice = {
  /** As it could be read, in lower case. */
  guid: string | null;
  interface: 'shipper' | 'carrier' | null;
  action: string;
  reason: string;
  /** JSON pointer into the body. */
  place: string | null;
  /** What is wrong, in words. */
  detail: string | null;
  /** The nearest key of those that there are, where it was named wrongly. */
  nearest: string | null;
  message_id: string | null;
  routing_key: string;
  /** ISO 8601. */
  rejected_at: string;
};

/** To the queue of the user that published the event, where it has one; else to the one that all others share. */
export function publishNotice(notice: Notice, userId = ''): Publication {
  return {
    kind: 'publish',
    exchange: noticesExchange,
    routingKey: userId,
    body: Buffer.from(JSON.stringify(notice)),
    contentType: 'application/json',
    mayBeLost: true,
  };
}
