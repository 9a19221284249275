import { isAttempted, type Outcome, type Attempted } from '@waybell/line/outcomes';
import { formatDuration } from '@waybell/runtime/duration';
import type { DemoEvent } from './demo-events.ts';

type TableOptions = RowStyle & { print: (line: string) => void };

type RowStyle = {
  /** Whether the reader is a terminal that shows colours. */
  isColoured: boolean;
};

const WIDTHS = [12, 24, 12, 7, 15, 6];
const HEADINGS = ['time', 'action', 'subscription', 'attempt', 'answer', 'ms', 'next attempt'];

const COLOURS: Record<Attempted['kind'], string> = {
  delivered: '\u001b[32m',
  failed: '\u001b[33m',
  exhausted: '\u001b[31m',
  dropped: '\u001b[2m',
};

/** Prints the results of the demo's events, and of no others, and knows when it is over. */
export class DemoTable {
  readonly #options: TableOptions;
  readonly #events = new Map<string, DemoEvent>();
  readonly #ended = new Set<string>();
  readonly #retryAt = new Map<string, number>();
  #hasHeading = false;

  constructor(options: TableOptions) {
    this.#options = options;
  }

  expect(guid: string, event: DemoEvent): void {
    this.#events.set(guid, event);
  }

  add(outcome: Outcome): void {
    if (!isAttempted(outcome)) return;
    const event = this.#events.get(outcome.event);
    if (event === undefined) return;
    if (!this.#hasHeading) this.#options.print(heading(this.#options));
    this.#hasHeading = true;
    this.#options.print(outcomeRow(outcome, event.address, this.#options));
    if (outcome.kind === 'failed') this.#retryAt.set(outcome.event, outcome.retryAt);
    else this.#ended.add(outcome.event);
  }

  /** Its guid, once it is expected. */
  guidOf(event: DemoEvent): string {
    return [...this.#events].find(([, each]) => each === event)?.[0] ?? '';
  }

  /** Returns events that have not ended, and when they are due again; 0 if that is not known yet. */
  underWay(): { event: DemoEvent; retryAt: number }[] {
    return [...this.#events]
      .filter(([guid]) => !this.#ended.has(guid))
      .map(([guid, event]) => ({ event, retryAt: this.#retryAt.get(guid) ?? 0 }));
  }
}

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
