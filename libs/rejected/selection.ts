/** Selects the rejected messages that an operator means: by id, reason or key. */
import { decodeBody } from '@waybell/events/read-event';
import { isGuid } from '@waybell/events/timestamp';
import { normalizedKey, unescaped } from '@waybell/events/event';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { readable } from '@waybell/line/outcome-batch';
import { guidOfBytes, readRejectedEvent } from './read-rejected-event.ts';

/** Selects rejected messages. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'reason'; reason: string }
  | { kind: 'about'; key: string }
  | { kind: 'ids'; ids: readonly string[] };

export type SelectionOptions = { ids?: readonly string[]; reason?: string; about?: string; all?: true };

/** Undefined unless exactly one way of selecting is given: messages must not be changed by oversight. */
export function readSelection({ ids = [], reason, about, all }: SelectionOptions): Selection | undefined {
  const ways: Selection[] = [];
  if (ids.length > 0) ways.push({ kind: 'ids', ids });
  if (reason !== undefined) ways.push({ kind: 'reason', reason });
  if (about !== undefined) ways.push({ kind: 'about', key: about });
  if (all) ways.push({ kind: 'all' });
  return ways.length === 1 ? ways[0] : undefined;
}

export function isSelected(selection: Selection, rejected: RejectedMessage): boolean {
  switch (selection.kind) {
    case 'all':
      return true;
    case 'reason':
      return rejected.reason === selection.reason;
    case 'about':
      return isAbout(rejected, selection.key);
    case 'ids':
      return selection.ids.some((id) => isCalled(rejected, id));
  }
}

/** Whether the name is the message's id, its message id, or the guid of its event. */
export function isCalled(rejected: RejectedMessage, name: string): boolean {
  const [folded, messageId] = [name.trim().toLowerCase(), rejected.messageId?.trim().toLowerCase()];
  if (rejected.id === folded || messageId === folded) return true;
  // Reads the event only if the name can be a guid.
  return folded.length > rejected.id.length && eventOf(rejected) === folded;
}

/** Whether it is called so, or names the key anywhere: in its text, or in a delivery's note. */
export function isAbout(rejected: RejectedMessage, key: string): boolean {
  return isCalled(rejected, key) || names(rejected, key) || names({ body: Buffer.from(rejected.note ?? '') }, key);
}

/** Returns the event's guid as the delivery log has it. */
function eventOf(rejected: RejectedMessage): string {
  return readRejectedEvent(rejected, LARGEST_BYTES).guid ?? guidOfBytes(rejected);
}

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

/** Returns a batch of records as text; any other body, or a broken one, unchanged. */
export function plainOf(body: Buffer): Buffer {
  try {
    return readable(body);
  } catch {
    return body;
  }
}
