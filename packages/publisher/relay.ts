import { backoffMs } from '@waybell/runtime/backoff';
import { systemClock, withTimeout } from '@waybell/runtime/clock';
import { outboxTable, type OutboxPlace, type OutboxPool } from './outbox.ts';
import { checkNumbers, checkTexts, guardedLog, runGuarded, type PublisherLog } from './publisher-options.ts';
import type { Publisher } from './publisher.ts';
import { relayBatch, type FailedEvent } from './relay-batch.ts';
import { RelayConnection } from './relay-connection.ts';

export interface RelayOptions extends OutboxPlace {
  /** Gives one connection for as long as the relay runs. */
  pool: OutboxPool;
  publisher: Pick<Publisher, 'send' | 'ready' | 'trouble'>;
  /** Events in one transaction, at most. 500 unless given. */
  batch?: number | undefined;
  /**
   * Sleeps until it is notified. False behind a pooler that gives a connection for a transaction only: then it polls every 100 ms, as it
   * does where `max_prepared_transactions` of Postgres is above 0. True unless given.
   */
  listen?: boolean | undefined;
  /** Gets warnings about late or interrupted events. Without it each warning is printed once. */
  log?: PublisherLog | undefined;
  /** Called for each event that the broker never takes. */
  onFailed?: ((failed: FailedEvent) => void) | undefined;
}

export interface RelayFigures {
  /** Since the start. */
  published: number;
  /** Since the start. */
  failed: number;
}

/** Publishes the events in the outbox, approximately in their order. Several may run at once, in any number of processes. */
export interface Relay {
  figures(): RelayFigures;
  /** Why it publishes nothing now, in words; undefined while it can. */
  trouble(): string | undefined;
  /**
   * Claims no more events, and waits for those already claimed, but no longer than this (10,000 ms): Postgres may not answer. The
   * publisher stays open.
   */
  close(options?: { withinMs?: number | undefined }): Promise<void>;
}

const BATCH = 500;
/** Between two polls: twice as long each time that nothing is found. */
const LEAST_PAUSE_MS = 2;
const MOST_PAUSE_MS = 16;
/**
 * It sleeps after this long without an event. With a shorter time, a slow disk would keep it asleep: commits that notify wait for
 * each other.
 */
const AWAKE_MS = 500;
/** Between two polls where it cannot sleep. */
const IDLE_PAUSE_MS = 100;
/** A notification that is lost costs as much time, and nothing else. */
const SLEEP_MS = 1_000;
const RETRY_MS = 1_000;
/**
 * Events not confirmed by then are sent again later. Rows that others delete while a transaction is open cannot be cleaned up.
 */
const CONFIRM_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 10_000;

/** Starts a relay. While Postgres or the broker is away, it waits and warns. */
export function createRelay(options: RelayOptions): Relay {
  return new OutboxRelay(options);
}

/**
 * Polls while there are events, and sleeps until it is notified when there are none:
 *
 *     polling ── nothing for 500 ms ──> asleep: holds the lock that makes those who put events in notify
 *        ↑                                 │
 *        └── notified, or after 1 s ───────┘
 *
 * `confirmLimitMs`: how long it waits for confirms.
 */
export class OutboxRelay implements Relay {
  readonly #options: RelayOptions;
  readonly #confirmLimitMs: number;
  readonly #log: PublisherLog;
  readonly #table: string;
  #listens: boolean;
  /** The last error of Postgres. */
  #trouble: string | undefined = 'it is not connected to Postgres yet';
  readonly #cut = new AbortController();
  readonly #halt = new AbortController();
  readonly #skipped = new SkippedKeys(() => systemClock.now());
  readonly #ended: Promise<void>;
  #pauseMs = LEAST_PAUSE_MS;
  #foundAt = -Infinity;
  #published = 0;
  #failed = 0;

  constructor(options: RelayOptions, { confirmLimitMs = CONFIRM_LIMIT_MS }: { confirmLimitMs?: number } = {}) {
    checkNumbers({ batch: options.batch ?? BATCH });
    checkTexts({ schema: options.schema });
    this.#options = options;
    this.#confirmLimitMs = confirmLimitMs;
    this.#log = guardedLog(options.log);
    this.#table = outboxTable(options);
    this.#listens = options.listen ?? true;
    this.#ended = this.#run();
  }

  figures(): RelayFigures {
    return { published: this.#published, failed: this.#failed };
  }

  trouble(): string | undefined {
    if (this.#halt.signal.aborted) return 'the relay is closed';
    return this.#options.publisher.trouble() ?? this.#trouble;
  }

  async close({ withinMs = CLOSE_LIMIT_MS }: { withinMs?: number | undefined } = {}): Promise<void> {
    this.#halt.abort();
    await withTimeout({ clock: systemClock, limitMs: withinMs }, this.#ended);
    this.#cut.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const [halt, cut] = [this.#halt.signal, this.#cut.signal];
    while (!this.#halt.signal.aborted) {
      try {
        const terms = { table: this.#table, listens: this.#listens, halt, cut };
        await RelayConnection.use(this.#options.pool, terms, (connection) => this.#relayBy(connection));
      } catch (error) {
        if (this.#halt.signal.aborted) return;
        this.#trouble = error instanceof Error ? error.message : String(error);
        this.#log.warn({ reason: this.#trouble }, 'outbox.interrupted');
        await systemClock.sleep(RETRY_MS, this.#halt.signal);
      }
    }
  }

  async #relayBy(connection: RelayConnection): Promise<void> {
    const { publisher, batch = BATCH } = this.#options;
    const { signal } = this.#halt;
    while (!signal.aborted) {
      await publisher.ready({ signal }).catch(() => undefined);
      if (signal.aborted) return;
      const found = await this.#poll(connection);
      if (found >= batch) continue;
      const isIdle = systemClock.now() - this.#foundAt > AWAKE_MS;
      if (isIdle && (await this.#sleep(connection))) continue;
      await connection.wait(isIdle ? IDLE_PAUSE_MS : this.#pauseMs, signal);
      this.#pauseMs = Math.min(MOST_PAUSE_MS, this.#pauseMs * 2);
    }
  }

  /**
   * Waits until it is notified; false if nobody would notify it. Polls once more before: a transaction that began while it
   * was awake may just have ended.
   */
  async #sleep(connection: RelayConnection): Promise<boolean> {
    if (!(await connection.fallAsleep())) return false;
    if ((await this.#poll(connection)) === 0) await connection.wait(SLEEP_MS, this.#halt.signal);
    if (await connection.wakeUp()) return true;
    this.#listens = false;
    this.#log.warn(
      { reason: 'a pooler gives a connection for a transaction only: set listen to false' },
      'outbox.pooler',
    );
    return true;
  }

  /** Resolves with how many events it found. */
  async #poll(connection: RelayConnection): Promise<number> {
    const { publisher, batch: most = BATCH, onFailed } = this.#options;
    connection.forgetNotifications();
    const batch = await relayBatch({
      postgres: connection,
      table: this.#table,
      publisher,
      most,
      skippedKeys: this.#skipped.keys,
      confirmLimitMs: this.#confirmLimitMs,
    });
    this.#trouble = undefined;
    this.#skipped.note(batch);
    this.#published += batch.published;
    this.#failed += batch.failed.length;
    if (batch.lateKeys.size > 0) this.#log.warn({ routingKeys: [...batch.lateKeys] }, 'outbox.events-late');
    for (const { guid, routingKey, why } of batch.failed) {
      this.#log.warn({ guid, routingKey, why }, 'outbox.event-failed');
      runGuarded(() => onFailed?.({ guid, routingKey, why }));
    }
    if (batch.found === 0) return 0;
    this.#pauseMs = LEAST_PAUSE_MS;
    this.#foundAt = systemClock.now();
    return batch.found;
  }
}

const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };

/** Routing keys whose events are not confirmed for now, so that they do not block all others; tried again ever more seldom. */
export class SkippedKeys {
  readonly #skipped = new Map<string, { until: number; times: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get keys(): string[] {
    return [...this.#skipped].flatMap(([key, { until }]) => (until > this.#now() ? [key] : []));
  }

  note({ confirmedKeys, lateKeys }: { confirmedKeys: Iterable<string>; lateKeys: Iterable<string> }): void {
    for (const key of confirmedKeys) this.#skipped.delete(key);
    for (const key of lateKeys) {
      const times = (this.#skipped.get(key)?.times ?? 0) + 1;
      this.#skipped.set(key, { until: this.#now() + backoffMs(BACKOFF, times), times });
    }
  }
}
