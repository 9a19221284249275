/**
 * What follows from an event that cannot be read: why it is rejected (`refuseEvent`), a record for the delivery log, and a notice to
 * upstream.
 */
import type { Invalid } from '@waybell/events/event';
import {
  type Message,
  NEWER_FORMAT,
  type Outgoing,
  type Publication,
  reject,
  type Rejection,
  rejectNewer,
} from '@waybell/line/messages';
import { isOwnFault } from '@waybell/line/reasons';
import { noticesExchange } from '@waybell/line/topology';
import { guidOfBytes, nearestKey, readRejectedEvent, type RejectedEvent } from './read-rejected-event.ts';

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

/** Reasons that mean a wrong key or action. */
const MISNAMED = new Set(['unroutable', 'unknown_action', 'routing_key_differs', 'not_a_report']);

/**
 * Reports a rejected event: a record for the delivery log and, unless the event is only too new for this version, a notice to
 * upstream.
 */
export function reportRejectedEvent({ maxBytes }: { maxBytes: number }, now: () => number) {
  return (message: Message, rejection: Rejection): Outgoing[] => {
    const [event, at] = [readRejectedEvent(message, maxBytes), now()];
    const record = recordOf(event, { message, rejection, at });
    return rejection.reason === NEWER_FORMAT ? [record] : [record, noticeOf(event, { message, rejection, at })];
  };
}

type Circumstances = { message: Message; rejection: Rejection; at: number };

function recordOf(event: RejectedEvent, { message, rejection, at }: Circumstances): Outgoing {
  const { guid, interface: interfaceName = null, action, keys, receivers } = event;
  const { reason, detail } = rejection;
  return {
    kind: 'outcome',
    outcome: {
      kind: 'rejected',
      event: guid ?? guidOfBytes(message),
      interface: interfaceName,
      action,
      at,
      keys,
      receivers,
      reason,
      detail: guid === undefined ? `${detail} (no guid can be read: this one stands for its bytes)` : detail,
    },
  };
}

function noticeOf(event: RejectedEvent, { message, rejection, at }: Circumstances): Outgoing {
  const { guid = null, interface: interfaceName = null, action } = event;
  const { reason, place = null, detail } = rejection;
  const { messageId = null, routingKey, userId } = message;
  const notice = {
    guid,
    interface: interfaceName,
    action,
    reason,
    place,
    // Faults of Waybell itself are not the publisher's business, and their text may quote anything.
    detail: isOwnFault(reason) ? null : detail,
    nearest: MISNAMED.has(reason) ? nearestKey(event) : null,
    message_id: messageId,
    routing_key: routingKey,
    rejected_at: new Date(at).toISOString(),
  };
  return publishNotice(notice, userId);
}

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

/**
 * Says why an event cannot be read: the broken rule of the contract, and the place. An event whose routing key names its own
 * unknown action breaks none: `declare` of a later version, which knows the action, has bound that key.
 */
export function refuseEvent({ routingKey }: Pick<Message, 'routingKey'>, invalid: Invalid): Rejection {
  const { reason, detail, place, unknown } = invalid;
  if (unknown === routingKey) return rejectNewer(`an event of the action ${routingKey}`);
  return reject(reason, detail, place);
}
