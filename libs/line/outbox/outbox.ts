import { randomUUID } from 'node:crypto';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { microBatch } from '@waybell/runtime/micro-batch';
import { runEvery } from '@waybell/runtime/run-every';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import { asSent } from '../delivery-batch.ts';
import { type Destination, type Publication, withDelayElapsed } from '../messages.ts';
import type { WaitingMetrics } from '../waiting-room/waiting-metrics.ts';
import type { ClaimedRows } from './claimed-rows.ts';
import type { OutboxRow, OutboxStore } from './postgres-outbox.ts';
import type { PublishingClaimed } from './publish-claimed.ts';

export type OutboxOptions = {
  store: OutboxStore;
  /** Runs the step that publishes these rows. */
  asStep: (rows: ClaimedRows<OutboxRow>) => PublishingClaimed;
  broker: Pick<Broker, 'state'>;
  /** Approximate limit of the rows of the service, in bytes; beyond it `put` rejects. */
  mostBytes: number;
  metrics: Pick<WaitingMetrics, 'figures' | 'show' | 'countPut' | 'countTaken'>;
  log: Pick<Log, 'info' | 'warn'>;
  clock: Clock;
};

const LARGEST_PUT = 100;
const HEAVIEST_PUT_BYTES = 2 ** 20;
const CLAIM_MS = 20_000;
/** Intervals of looking for rows, while some wait and while none does, and of counting them. */
const LOOK_MS = 1_000;
const SELDOM_MS = 10_000;
const COUNT_MS = 10_000;
/** Limits of the time until a destination that takes nothing is tried again: a quarter of that for which it has taken nothing. */
const SOONEST_MS = 1_000;
const LATEST_MS = 15_000;
const WARNING = 'publications.postgres-away';

/**
 * The outbox of a service: publications that the broker does not take, as it blocks publishers or is away, or their queue is stalled or
 * missing, wait in one table until it does. This process, or another of the service, publishes them then. Each may arrive twice and in any
 * order; consumers recognise repeats.
 *
 *          ┌─ not taken lately ─▶ no row of it is claimed: for 1 s, then longer, up to 15 s ─┐
 *          │                                                                                 ▼
 *   a destination ◀── not taken ── one row of it is claimed (as for one that is not known) ◀─┘
 *          ▲                                 │ taken
 *          └── not taken ── as many as its share of what is claimed at once ◀┘
 */
export class Outbox implements AsyncDisposable {
  readonly #options: OutboxOptions;
  readonly #putAll: (row: OutboxRow & { afterMs: number }) => Promise<void>;
  readonly #publishing: PublishingClaimed;
  readonly #timed: AsyncDisposable[];
  /** Destinations that took the last row. */
  readonly #open = new Set<string>();
  /** Destinations that did not: since when, and when they are tried again, by the clock. */
  readonly #shut = new Map<string, { since: number; until: number }>();
  /** Bytes when they were counted last, and this process's changes since. */
  #counted = 0;
  #own = 0;
  #counting: Promise<void> = Promise.resolve();
  #lookedAt = -Infinity;
  #isAnyWaiting = false;
  #isAway = false;

  constructor(options: OutboxOptions) {
    const { store, asStep, metrics, log, clock } = options;
    this.#options = options;
    this.#putAll = microBatch((rows) => store.put(rows).then(() => rows.map(() => undefined)), {
      nameOf: ({ id }) => id,
      largest: LARGEST_PUT,
      heaviest: { weigh: ({ publication }) => publication.body.length, most: HEAVIEST_PUT_BYTES },
    });
    this.#publishing = asStep({
      claimMs: CLAIM_MS,
      claim: () => this.#claim(),
      publicationOf: ({ publication }) => publication,
      settle: (rows) => this.#taken(rows),
      keep: (rows) => this.#notTaken(rows),
    });
    metrics.show(() => ({ claimed: 0, shut: this.#shut.size, isAway: this.#isAway }));
    const every = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, warning: WARNING, log, clock });
    this.#timed = [every(LOOK_MS, () => this.#look()), every(COUNT_MS, () => this.#count())];
  }

  /**
   * Resolves when the publication is committed. Rejects with `Unavailable` while too much waits, or while Postgres is away; in the
   * latter case it may wait nevertheless.
   */
  readonly put = async (given: Publication): Promise<void> => {
    if (this.#isFull()) throw new Unavailable('room for publications', () => this.#untilRoom());
    const { publication, afterMs } = withDelayElapsed(asSent(given));
    const destination = nameOf(publication);
    try {
      await this.#putAll({ id: randomUUID(), destination, publication, afterMs });
      this.#isAway = false;
    } catch (error) {
      this.#isAway = error instanceof Unavailable;
      throw error;
    }
    this.#options.metrics.countPut('broker');
    this.#own += publication.body.length;
    this.#tell({ destination });
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#publishing[Symbol.asyncDispose]();
    await Promise.all(this.#timed.map((each) => each[Symbol.asyncDispose]()));
  }

  async #look(): Promise<void> {
    const { store, broker, clock } = this.#options;
    const now = clock.now();
    if (!this.#isAnyWaiting && now - this.#lookedAt < SELDOM_MS) return;
    this.#lookedAt = now;
    while ((await store.takeOver()) > 0);
    if (broker.state() === 'writable') await this.#publishing.publishDue();
  }

  async #claim(): Promise<OutboxRow[]> {
    const { store, clock, metrics } = this.#options;
    const shut = [...this.#shut].flatMap(([destination, { until }]) => (clock.now() < until ? [destination] : []));
    const rows = await store.claim({ open: [...this.#open], shut, claimMs: CLAIM_MS });
    metrics.countTaken('destinations', rows.length);
    return rows;
  }

  async #taken(rows: readonly OutboxRow[]): Promise<void> {
    for (const { destination } of rows) {
      this.#open.add(destination);
      this.#shut.delete(destination);
    }
    await this.#options.store.settle(rows);
    this.#own -= rows.reduce((sum, { publication }) => sum + publication.body.length, 0);
  }

  async #notTaken(rows: readonly OutboxRow[]): Promise<void> {
    const { store, log, clock } = this.#options;
    const now = clock.now();
    for (const destination of new Set(rows.map((row) => row.destination))) {
      const known = this.#shut.get(destination);
      if (known === undefined) log.warn({ destination }, 'publications.not-sent-on');
      const { since } = known ?? { since: now };
      this.#open.delete(destination);
      this.#shut.set(destination, { since, until: now + Math.min(LATEST_MS, Math.max(SOONEST_MS, (now - since) / 4)) });
    }
    await store.keep(rows);
  }

  /** One after the other: a count that is older must not be the last. */
  #count(): Promise<void> {
    const counted = this.#counting.then(() => this.#countNow());
    this.#counting = counted.catch(() => undefined);
    return counted;
  }

  async #countNow(): Promise<void> {
    const { store, metrics, log } = this.#options;
    // Rows added from now on are not among those that are counted.
    const own = this.#own;
    const counted = await store.figures();
    metrics.figures.destinations = counted;
    this.#counted = counted.bytes;
    this.#own -= own;
    if (counted.rows > 0) this.#tell(counted);
    else if (this.#isAnyWaiting && this.#own === 0) {
      this.#isAnyWaiting = false;
      this.#open.clear();
      this.#shut.clear();
      log.info('publications.sent-on');
    }
  }

  /** Logs only the first that waits, until all are sent. */
  #tell(what: object): void {
    if (!this.#isAnyWaiting) this.#options.log.warn(what, 'publications.waiting');
    this.#isAnyWaiting = true;
  }

  #isFull(): boolean {
    return this.#counted + this.#own >= this.#options.mostBytes;
  }

  async #untilRoom(): Promise<void> {
    await this.#count();
    if (this.#isFull()) throw new Error('as much waits as may');
  }
}

/** `<exchange> <routing key>`, without NUL, which strangers may write and Postgres does not take. */
function nameOf({ exchange, routingKey }: Destination): string {
  return `${exchange} ${routingKey}`.replaceAll('\0', '\uFFFD');
}
