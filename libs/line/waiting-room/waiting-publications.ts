import { createHash, randomUUID } from 'node:crypto';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { microBatch } from '@waybell/runtime/micro-batch';
import { runEvery } from '@waybell/runtime/run-every';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import { withDelayElapsed, type Publication, type Destination } from '../messages.ts';
import { SendWaiting } from './send-waiting.ts';
import type { WaitingMetrics } from './waiting-metrics.ts';
import { MOST_BYTES, type AnyWaitingRow, type WaitingStore } from './waiting-store.ts';

export type WaitingPublicationsOptions = {
  store: Pick<
    WaitingStore,
    'put' | 'claim' | 'renew' | 'take' | 'settle' | 'postpone' | 'release' | 'flushSums' | 'figures'
  >;
  broker: Pick<Broker, 'publish' | 'state' | 'onState'>;
  /** Approximate limit of the rows for all destinations of the service, in bytes; beyond it `put` rejects. */
  mostBytes: number;
  metrics: Pick<WaitingMetrics, 'figures' | 'show' | 'countPut' | 'countTaken'>;
  log: Pick<Log, 'info' | 'warn'>;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
};

const LARGEST_PUT = 100;
/**
 * Intervals: of looking for rows that other processes left; of counting all rows while none waits; of storing this process's
 * changes.
 */
const LOOK_MS = 10_000;
const COUNT_MS = 60_000;
const FLUSH_MS = 1_000;
const WARNING = 'publications.postgres-away';

/**
 * Has publications wait in Postgres while the broker does not take them: it blocks publishers, or their queue is stalled or missing.
 * This process, or another of its service, sends them later. Each may arrive twice and in any order; consumers recognise repeats.
 */
export class WaitingPublications implements AsyncDisposable {
  readonly #options: WaitingPublicationsOptions;
  readonly #putAll: (row: AnyWaitingRow) => Promise<number>;
  readonly #sending: SendWaiting;
  readonly #looking: AsyncDisposable;
  readonly #warn: (error: unknown) => void;
  readonly #process = randomUUID();
  #last = 0;
  /** The sum over all destinations when it was counted last, and this process's changes since. */
  #counted = 0;
  #own = 0;
  #countedAt = -Infinity;
  #flushing: Timer | undefined;
  #isAway = false;
  #isAnyWaiting = false;

  constructor(options: WaitingPublicationsOptions) {
    const { store, metrics, log, clock } = options;
    this.#options = options;
    this.#warn = throttledWarning(log, WARNING, clock);
    this.#putAll = microBatch((rows) => store.put(rows), {
      nameOf: ({ id }) => id,
      largest: LARGEST_PUT,
      heaviest: { weigh: ({ publication }) => publication?.body.length ?? 0, most: MOST_BYTES },
    });
    this.#sending = new SendWaiting({
      ...options,
      onTaken: (rows) => metrics.countTaken('destinations', rows.length),
      onSettled: (rows) => this.#change(-rows.reduce((sum, { publication }) => sum + publication.body.length, 0)),
    });
    metrics.show(() => ({ ...this.#sending.figures(), isAway: this.#isAway }));
    this.#looking = runEvery(() => this.#look(), {
      intervalMs: LOOK_MS,
      beginsAtOnce: true,
      warning: WARNING,
      log,
      clock,
    });
  }

  /**
   * Resolves when the publication is committed. Rejects with `Unavailable` while too much waits, or while Postgres is away; in the
   * latter case it may wait nevertheless.
   */
  readonly put = async (publication: Publication): Promise<void> => {
    if (this.#isFull()) throw new Unavailable('room for publications', () => this.#untilRoom());
    const { publication: waiting, afterMs } = withDelayElapsed(publication);
    const { exchange, routingKey, body } = waiting;
    const name = destinationNameOf(waiting);
    await this.#answered(
      this.#putAll({
        room: roomOf(waiting),
        madeAt: this.#options.now(),
        id: `${this.#process} ${String((this.#last += 1)).padStart(12, '0')}`,
        why: 'broker',
        publication: waiting,
        name,
        ...(afterMs > 0 && { afterMs }),
      }),
    );
    this.#options.metrics.countPut('broker');
    this.#change(body.length);
    this.#tell({ exchange, routingKey });
    this.#sending.wasPut(afterMs);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looking[Symbol.asyncDispose]();
    await this.#sending[Symbol.asyncDispose]();
    this.#flushing?.[Symbol.dispose]();
    await this.#options.store.flushSums().catch(this.#warn);
  }

  async #answered<T>(put: Promise<T>): Promise<T> {
    try {
      const answer = await put;
      this.#isAway = false;
      return answer;
    } catch (error) {
      this.#isAway = error instanceof Unavailable;
      throw error;
    }
  }

  async #look(): Promise<void> {
    await this.#sending.look();
    const { clock } = this.#options;
    if (this.#isAnyWaiting || clock.now() - this.#countedAt >= COUNT_MS) await this.#count();
  }

  async #count(): Promise<void> {
    const { store, metrics, clock, log } = this.#options;
    await store.flushSums();
    // Rows added from now on are not in the sums.
    const own = this.#own;
    metrics.figures = await store.figures();
    const { rows, bytes } = metrics.figures.destinations;
    this.#counted = bytes;
    this.#own -= own;
    this.#countedAt = clock.now();
    if (rows > 0) this.#tell({ rows, bytes });
    else if (this.#isAnyWaiting && this.#own === 0) {
      this.#isAnyWaiting = false;
      log.info('publications.sent-on');
    }
  }

  #change(bytes: number): void {
    const { clock, store } = this.#options;
    this.#own += bytes;
    this.#flushing ??= clock.after(FLUSH_MS, () => {
      this.#flushing = undefined;
      store.flushSums().catch(this.#warn);
    });
    this.#flushing.unref();
  }

  /** Logs only the first that waits, until all are sent. */
  #tell(what: object): void {
    if (this.#isAnyWaiting) return;
    this.#isAnyWaiting = true;
    this.#options.log.warn(what, 'publications.waiting');
  }

  #isFull(): boolean {
    return this.#counted + this.#own >= this.#options.mostBytes;
  }

  async #untilRoom(): Promise<void> {
    await this.#count();
    if (this.#isFull()) throw new Error('as much waits as may');
  }
}

function destinationNameOf({ exchange, routingKey }: Destination): string {
  return `${exchange} ${routingKey}`;
}

/** The room of a destination: 32 hexadecimal digits. */
export function roomOf(destination: Destination): string {
  return createHash('sha256').update(destinationNameOf(destination)).digest('hex').slice(0, 32);
}
