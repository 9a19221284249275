import { hash } from 'node:crypto';

/** A namespace, and room for the name. */
const bytes = Buffer.alloc(16 + 36);

/**
 * The guid of the message that announces an event to a subscription: UUIDv5 (RFC 9562, 5.5) with the event's guid as
 * namespace and the lower-case guid of the subscription as name, so that the same event always makes the same message.
 */
export function messageGuid(eventGuid: string, subscriptionGuid: string): string {
  const digits = messageDigits(eventGuid, subscriptionGuid);
  const variant = '89ab'[nibble(digits, 16) & 3];
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-5${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

/** Returns digits of which the first 12 are those of the message's guid. */
export function messageDigits(eventGuid: string, subscriptionGuid: string): string {
  writeNamespace(eventGuid);
  const end = 16 + bytes.write(subscriptionGuid.toLowerCase(), 16, 'latin1');
  return hash('sha1', end === bytes.length ? bytes : bytes.subarray(0, end));
}

function writeNamespace(guid: string): void {
  for (let at = 0, to = 0; to < 16; at += 2, to += 1) {
    if (guid[at] === '-') at += 1;
    bytes[to] = nibble(guid, at) * 16 + nibble(guid, at + 1);
  }
}

/** What a hexadecimal digit, of either case, stands for. */
function nibble(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + (code > 57 ? 9 : 0);
}
