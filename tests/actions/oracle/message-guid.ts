import { createHash } from 'node:crypto';

/** RFC 9562, 5.5, by hand: SHA-1 of the event's guid and the subscription's, with the bits of version 5. */
export function messageGuidOf(event: string, subscription: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(event.replaceAll('-', ''), 'hex'))
    .update(subscription)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
