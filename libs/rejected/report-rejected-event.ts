import type { Message, Outgoing, Rejection } from '@waybell/line/messages';
import { NEWER_FORMAT } from '@waybell/line/newer-format';
import { isOwnFault } from '@waybell/line/reasons';
import { publishNotice } from './notice.ts';
import { guidOfBytes, nearestKey, readRejectedEvent, type RejectedEvent } from './read-rejected-event.ts';

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
