import { hash } from 'node:crypto';

/** A namespace, and room for the name. */
const bytes = Buffer.alloc(16 + 36);

/**
 * The guid of the message that announces an event to a subscription: UUIDv5 (RFC 9562, 5.5) with the event's guid as
 * namespace and the lower-case guid of the subscription as name, so that the same event always makes the same message.
 */
export function messageGuid(eventGuid: string, subscriptionGuid: string): string {
  bytes.write(eventGuid.replaceAll('-', ''), 'hex');
  const end = 16 + bytes.write(subscriptionGuid.toLowerCase(), 16, 'latin1');
  const digits = hash('sha1', bytes.subarray(0, end));
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-5${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
