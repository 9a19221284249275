import { isAttempted, type Outcome } from '@waybell/line/outcomes';
import type { DemoEvent } from './demo-events.ts';
import { heading, outcomeRow, type RowStyle } from './outcome-row.ts';

export type TableOptions = RowStyle & { print: (line: string) => void };

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
