import type { Rejected } from '@waybell/line/broker/rejected-queue';

/** Which rejected messages a command means. */
export type Selection = { kind: 'all' } | { kind: 'reason'; reason: string } | { kind: 'ids'; ids: readonly string[] };

/** Throws unless exactly one way of choosing is given: what is done to messages must not happen by oversight. */
export function readSelection(ids: readonly string[], options: { reason?: string; all?: true }): Selection {
  const ways: Selection[] = [];
  if (ids.length > 0) ways.push({ kind: 'ids', ids });
  if (options.reason !== undefined) ways.push({ kind: 'reason', reason: options.reason });
  if (options.all) ways.push({ kind: 'all' });
  const [way] = ways;
  if (way === undefined || ways.length > 1) {
    throw new Error('say which: ids of "./waybell rejected list", or --reason <reason>, or --all');
  }
  return way;
}

export function isSelected(selection: Selection, rejected: Rejected): boolean {
  switch (selection.kind) {
    case 'all':
      return true;
    case 'reason':
      return rejected.reason === selection.reason;
    case 'ids':
      return selection.ids.some((id) => isCalled(rejected, id));
  }
}

/** Whether `id` is its id or its message id. */
export function isCalled({ id, messageId }: Rejected, name: string): boolean {
  return id === name.toLowerCase() || (messageId !== undefined && messageId.toLowerCase() === name.toLowerCase());
}
