import { decodeBody } from '@waybell/events/decode-body';
import { isGuid } from '@waybell/events/guid';
import { normalizedKey, unescaped } from '@waybell/events/keys';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { plainOf } from './plain-of.ts';
import { readRejectedEvent } from './read-rejected-event.ts';

/** More than any event may come to; a bomb is not inflated beyond that. */
export const LARGEST_BYTES = 64 * 2 ** 20;

/**
 * Whether its body, compressed or not, has this key in it, however it is spelled there: a guid anywhere, any other as a
 * whole, so that 4711 is not found in 147110.
 */
export function names(
  { body, contentEncoding }: Pick<RejectedMessage, 'body' | 'contentEncoding'>,
  key: string,
): boolean {
  const decoded = decodeBody({ body, contentEncoding }, LARGEST_BYTES);
  const text = unescaped((decoded.kind === 'bytes' ? decoded.bytes : plainOf(body)).toString()).toLowerCase();
  const sought = key.trim().toLowerCase();
  if (isGuid(sought)) return text.includes(sought);
  if (sought === '') return false;
  const between = text.split(sought);
  return between
    .slice(1)
    .some((after, place) => !/[\p{L}\p{N}]$/u.test(between[place] ?? '') && !/^[\p{L}\p{N}]/u.test(after));
}

/** Whether it is about that: a guid is no other's, wherever it stands; anything else has to be a key of it. */
export function isOf(rejected: RejectedMessage, { key, kind }: { key: string; kind?: string | undefined }): boolean {
  if (isGuid(key)) return names(rejected, key);
  const { keys } = readRejectedEvent(rejected, LARGEST_BYTES);
  return keys.some((each) => normalizedKey(each.key) === key && (kind === undefined || each.kind === kind));
}
