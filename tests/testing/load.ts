import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';
import type { Party } from './subscribers.ts';

export type LoadOptions = { ledger: Pick<Ledger, 'publish'>; parties: readonly Party[]; eventsPerSecond: number };

const TICK_MS = 20;
// While the broker is away, upstream's own outbox fills no further than this.
const UNCONFIRMED_LIMIT = 500;

/** An upstream at work: publishes at an even rate until it is stopped. */
export class Load implements Disposable {
  readonly #options: LoadOptions;
  readonly #unconfirmed = new Set<Promise<unknown>>();
  readonly #running: Promise<void>;
  #isStopped = false;
  #next = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Publishes no more; resolves when all is confirmed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    await Promise.all(this.#unconfirmed);
  }

  /** Publishes no more, whatever is confirmed: what failed beside it must not wait for that. */
  [Symbol.dispose](): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    let skipped = 0;
    while (!this.#isStopped) {
      const due = ((performance.now() - startedAt) / 1_000) * this.#options.eventsPerSecond;
      while (this.#next + skipped < due) {
        if (this.#unconfirmed.size < UNCONFIRMED_LIMIT) this.#publish();
        else skipped += 1;
      }
      await sleep(TICK_MS);
    }
  }

  #publish(): void {
    const { ledger, parties } = this.#options;
    const party = parties[this.#next % parties.length];
    this.#next += 1;
    if (party === undefined) return;
    const published = ledger.publish(party);
    this.#unconfirmed.add(published);
    // One that fails stays, for `stop` to report: thrown from here it would end the process and leave its stack running.
    void published.then(
      () => this.#unconfirmed.delete(published),
      () => undefined,
    );
  }
}
