import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { names, LARGEST_BYTES } from './names.ts';
import { guidOfBytes, readRejectedEvent } from './read-rejected-event.ts';

/** Selects rejected messages. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'reason'; reason: string }
  | { kind: 'about'; key: string }
  | { kind: 'ids'; ids: readonly string[] };

export type SelectionOptions = { reason?: string; about?: string; all?: true };

/** Throws unless exactly one way of selecting is given: messages must not be changed by oversight. */
export function readSelection(ids: readonly string[], { reason, about, all }: SelectionOptions): Selection {
  const ways: Selection[] = [];
  if (ids.length > 0) ways.push({ kind: 'ids', ids });
  if (reason !== undefined) ways.push({ kind: 'reason', reason });
  if (about !== undefined) ways.push({ kind: 'about', key: about });
  if (all) ways.push({ kind: 'all' });
  const [way] = ways;
  if (way === undefined || ways.length > 1) {
    throw new Error('say which: ids of "./waybell rejected list", or --reason <reason>, or --about <key>, or --all');
  }
  return way;
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
