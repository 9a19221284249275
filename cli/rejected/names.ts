import { decodeBody } from '@waybell/events/decode-body';
import { unescaped } from '@waybell/events/keys';
import type { Rejected } from '@waybell/line/broker/rejected-queue';
import { plainOf } from './plain-of.ts';

/** More than any event may come to; a bomb is not inflated beyond that. */
const LARGEST_BYTES = 64 * 2 ** 20;

/** Whether its body, compressed or not, has this guid in it, however it is spelled there. `guid`: in lower case. */
export function names({ body, contentEncoding }: Pick<Rejected, 'body' | 'contentEncoding'>, guid: string): boolean {
  const decoded = decodeBody({ body, contentEncoding }, LARGEST_BYTES);
  const text = (decoded.kind === 'bytes' ? decoded.bytes : plainOf(body)).toString();
  return unescaped(text).toLowerCase().includes(guid);
}
