import { decodeBody } from '@waybell/events/decode-body';
import { isGuid } from '@waybell/events/guid';
import { normalizedKey, unescaped } from '@waybell/events/keys';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { plainOf } from './plain-of.ts';
import { readRejectedEvent } from './read-rejected-event.ts';

/** Exceeds any event; protects against decompression bombs. */
export const LARGEST_BYTES = 64 * 2 ** 20;

/**
 * Whether the body, compressed or not, contains this key, however it is spelled: a guid anywhere, any other key as a whole, so
 * that 4711 is not found in 147110.
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

/** Whether the message is about that key. A guid matches anywhere, as it is unique; anything else must be one of its keys. */
export function isOf(rejected: RejectedMessage, { key, kind }: { key: string; kind?: string | undefined }): boolean {
  if (isGuid(key)) return names(rejected, key);
  const { keys } = readRejectedEvent(rejected, LARGEST_BYTES);
  return keys.some((each) => normalizedKey(each.key) === key && (kind === undefined || each.kind === kind));
}
