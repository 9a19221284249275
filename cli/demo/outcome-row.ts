import { formatDuration } from '@waybell/runtime/duration';
import type { Attempted } from '@waybell/line/outcomes';

const WIDTHS = [12, 24, 12, 7, 15, 6];
const HEADINGS = ['time', 'action', 'subscription', 'attempt', 'answer', 'ms', 'next attempt'];

export type RowStyle = {
  /** Whether the reader is a terminal that shows colours. */
  isColoured: boolean;
};

export function heading({ isColoured }: RowStyle): string {
  return isColoured ? `\u001b[1m${columns(HEADINGS)}\u001b[0m` : columns(HEADINGS);
}

/** Returns one attempt as a line of the demo's table: time, action, receiver, attempt, answer, next step. */
export function outcomeRow(outcome: Attempted, subscription: string, { isColoured }: RowStyle): string {
  const { at, interface: interfaceName, action, attempt } = outcome;
  const row = columns([
    new Date(at).toISOString().slice(11, 23),
    `${interfaceName} ${action}`,
    subscription,
    String(attempt),
    ...answerOf(outcome),
    nextOf(outcome),
  ]);
  return isColoured ? `${COLOURS[outcome.kind]}${row}\u001b[0m` : row;
}

const COLOURS: Record<Attempted['kind'], string> = {
  delivered: '\u001b[32m',
  failed: '\u001b[33m',
  exhausted: '\u001b[31m',
  dropped: '\u001b[2m',
};

function answerOf(outcome: Attempted): [answer: string, durationMs: string] {
  if (!('answer' in outcome)) return ['no attempt', ''];
  const { status, reason = '', durationMs } = outcome.answer;
  return [status === undefined ? reason : String(status), String(Math.round(durationMs))];
}

function nextOf(outcome: Attempted): string {
  switch (outcome.kind) {
    case 'delivered':
      return 'none: delivered';
    case 'failed':
      return `in ${formatDuration(Math.round((outcome.retryAt - outcome.at) / 100) * 100)}`;
    case 'exhausted':
      return 'none: given up';
    case 'dropped':
      return `none: ${outcome.reason}`;
  }
}

function columns(cells: readonly string[]): string {
  return cells
    .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
    .join('  ')
    .trimEnd();
}
