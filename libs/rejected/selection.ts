import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { names, LARGEST_BYTES } from './names.ts';
import { guidOfBytes, readRejectedEvent } from './read-rejected-event.ts';

/** Which rejected messages are meant. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'reason'; reason: string }
  | { kind: 'about'; key: string }
  | { kind: 'ids'; ids: readonly string[] };

export type SelectionOptions = { reason?: string; about?: string; all?: true };

/** Throws unless exactly one way of choosing is given: what is done to messages must not happen by oversight. */
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

/** Whether that is its id, its message id, or the guid of the event that it is. */
export function isCalled(rejected: RejectedMessage, name: string): boolean {
  const [folded, messageId] = [name.trim().toLowerCase(), rejected.messageId?.trim().toLowerCase()];
  if (rejected.id === folded || messageId === folded) return true;
  // What becomes of it to read it is done for no name that cannot be a guid's.
  return folded.length > rejected.id.length && eventOf(rejected) === folded;
}

/** Whether it is called so, or names it anywhere: in its text, or where a delivery says whose it is. */
export function isAbout(rejected: RejectedMessage, key: string): boolean {
  return isCalled(rejected, key) || names(rejected, key) || names({ body: Buffer.from(rejected.note ?? '') }, key);
}

/** As the delivery log has it. */
function eventOf(rejected: RejectedMessage): string {
  return readRejectedEvent(rejected, LARGEST_BYTES).guid ?? guidOfBytes(rejected);
}
