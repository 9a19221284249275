import type { Publication } from '@waybell/line/messages';
import { noticesExchange } from '@waybell/line/topology';

/** The notice to upstream of a rejected event; null where a member is unknown or missing. */
export type Notice = {
  /** Lower case, as far as it could be read. */
  guid: string | null;
  interface: 'shipper' | 'carrier' | null;
  action: string;
  reason: string;
  /** JSON pointer into the body. */
  place: string | null;
  /** Describes the fault. */
  detail: string | null;
  /** The nearest existing key, if the event named a wrong one. */
  nearest: string | null;
  message_id: string | null;
  routing_key: string;
  /** ISO 8601. */
  rejected_at: string;
};

/** Publishes to the queue of the user that published the event, if it has one; otherwise to the shared queue. */
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
