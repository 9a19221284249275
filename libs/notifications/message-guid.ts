import { hash } from 'node:crypto';

/** A namespace, and room for the name. */
const bytes = Buffer.alloc(16 + 36);

/** The text of a guid: parts that are joined would be garbage. */
const written = Buffer.from('........-....-5...-....-............', 'latin1');
const [VERSION_AT, VARIANT_AT, DASH] = [14, 19, 45];

/**
 * The guid of the message that announces an event to a subscription: UUIDv5 (RFC 9562, 5.5) with the event's guid as
 * namespace and the lower-case guid of the subscription as name, so that the same event always makes the same message.
 */
export function messageGuid(eventGuid: string, subscriptionGuid: string): string {
  const digits = messageDigits(eventGuid, subscriptionGuid);
  for (let at = 0, to = 0; at < 32; at += 1, to += 1) {
    if (to === VARIANT_AT) written[to] = '89ab'.charCodeAt(nibble(digits, at) & 3);
    else if (to !== VERSION_AT) written[to] = digits.charCodeAt(at);
    // A dash is there already.
    if (written[to + 1] === DASH) to += 1;
  }
  return written.toString('latin1');
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

/** Returns the value of a hexadecimal digit of either case. */
function nibble(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + (code > 57 ? 9 : 0);
}
