import { v5 } from 'uuid';

/**
 * The guid of the message that announces an event to a subscription: UUIDv5 with the event's guid as namespace and the
 * lower-case guid of the subscription as name, so that the same event always makes the same message.
 */
export function messageGuid(eventGuid: string, subscriptionGuid: string): string {
  // As bytes: the package takes text only for namespaces of the versions it knows, and an event's guid may be of any.
  return v5(subscriptionGuid.toLowerCase(), Buffer.from(eventGuid.replaceAll('-', ''), 'hex'));
}
