import { systemClock } from '@waybell/runtime/clock';
import { HeldKeys } from './held-keys.ts';
import type { OutboxPool } from './outbox-connection.ts';
import type { PublisherLog } from './publisher-options.ts';
import type { Publisher } from './publisher.ts';
import { relayBatch, type FailedEvent } from './relay-batch.ts';
import { RelayConnection } from './relay-connection.ts';

export interface RelayOptions {
  /** Gives one connection for as long as the relay runs. */
  pool: OutboxPool;
  publisher: Pick<Publisher, 'send' | 'ready'>;
  /** Events in one transaction, at most. 500 unless given. */
  batch?: number;
  /** Sleeps until it is notified. False behind a pooler that gives a connection for a transaction only: then it looks every 100 ms. True unless given. */
  listen?: boolean;
  log?: PublisherLog;
  /** Hears of each event that the broker never takes. */
  onFailed?: (failed: FailedEvent) => void;
}

export interface RelayFigures {
  /** Since the start. */
  published: number;
  /** Since the start. */
  failed: number;
}

/** Publishes what is in the outbox, in about the order in which it came. Several may run at once, in any number of processes. */
export interface Relay {
  figures(): RelayFigures;
  /** Takes nothing more, and resolves when what was taken is confirmed, 5 s later at the latest. The publisher stays open. */
  close(): Promise<void>;
}

/** Between two looks: twice as long each time that nothing is found. */
const LEAST_PAUSE_MS = 2;
const MOST_PAUSE_MS = 16;
/** After so long without an event it sleeps. Sooner, a slow disk would keep it asleep: commits that notify wait for each other. */
const AWAKE_MS = 500;
/** Between two looks where it cannot sleep. */
const IDLE_PAUSE_MS = 100;
/** A notification that is lost costs as much time, and nothing else. */
const SLEEP_MS = 1_000;
const RETRY_MS = 1_000;

/** Starts a relay. While Postgres or the broker is away, it waits and says so. */
export function createRelay(options: RelayOptions): Relay {
  return new OutboxRelay(options);
}

class OutboxRelay implements Relay {
  readonly #options: RelayOptions;
  readonly #halt = new AbortController();
  readonly #held = new HeldKeys(() => systemClock.now());
  readonly #ended: Promise<void>;
  #pauseMs = LEAST_PAUSE_MS;
  #foundAt = -Infinity;
  #published = 0;
  #failed = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#ended = this.#run();
  }

  figures(): RelayFigures {
    return { published: this.#published, failed: this.#failed };
  }

  async close(): Promise<void> {
    this.#halt.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { pool, listen = true, log } = this.#options;
    while (!this.#halt.signal.aborted) {
      try {
        await RelayConnection.use(pool, listen, (connection) => this.#relayBy(connection));
      } catch (error) {
        if (this.#halt.signal.aborted) return;
        log?.warn({ reason: error instanceof Error ? error.message : String(error) }, 'outbox.interrupted');
        await systemClock.sleep(RETRY_MS, this.#halt.signal);
      }
    }
  }

  async #relayBy(connection: RelayConnection): Promise<void> {
    const { publisher, batch = 500 } = this.#options;
    const { signal } = this.#halt;
    while (!signal.aborted) {
      await publisher.ready({ signal }).catch(() => undefined);
      if (signal.aborted) return;
      const taken = await this.#look(connection);
      if (taken >= batch) continue;
      const isIdle = systemClock.now() - this.#foundAt > AWAKE_MS;
      if (isIdle && (await this.#sleep(connection))) continue;
      await connection.wait(isIdle ? IDLE_PAUSE_MS : this.#pauseMs, signal);
      this.#pauseMs = Math.min(MOST_PAUSE_MS, this.#pauseMs * 2);
    }
  }

  /**
   * Waits until it is notified; false where nobody would notify it. Looks once more before: a transaction that began while it
   * was awake may just have ended.
   */
  async #sleep(connection: RelayConnection): Promise<boolean> {
    if (!(await connection.fallAsleep())) return false;
    if ((await this.#look(connection)) === 0) await connection.wait(SLEEP_MS, this.#halt.signal);
    await connection.wakeUp();
    return true;
  }

  /** Resolves with how many events it found. */
  async #look(connection: RelayConnection): Promise<number> {
    const { publisher, batch: most = 500, log, onFailed } = this.#options;
    connection.looks();
    const batch = await relayBatch({ postgres: connection, publisher, most, heldKeys: this.#held.keys });
    this.#held.learn(batch);
    this.#published += batch.published;
    this.#failed += batch.failed.length;
    if (batch.lateKeys.size > 0) log?.warn({ routingKeys: [...batch.lateKeys] }, 'outbox.events-late');
    for (const { guid, routingKey, why } of batch.failed) {
      log?.warn({ guid, routingKey, why }, 'outbox.event-failed');
      onFailed?.({ guid, routingKey, why });
    }
    if (batch.taken === 0) return 0;
    this.#pauseMs = LEAST_PAUSE_MS;
    this.#foundAt = systemClock.now();
    return batch.taken;
  }
}
