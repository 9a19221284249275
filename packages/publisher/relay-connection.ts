import { systemClock } from '@waybell/runtime/clock';
import { outboxChannel } from './outbox-migration.ts';
import type { OutboxConnection, OutboxPool, OutboxQueries } from './outbox.ts';

/** The relay would wait without end for a server that disappeared without closing the connection. */
const QUERY_LIMIT_MS = 60_000;

type RelayTerms = {
  /** The outbox, as SQL names it. */
  table: string;
  /** Listens for notifications: false behind a pooler that gives a connection for a transaction only. */
  listens: boolean;
  /** Aborted when the relay is to end after its begun work. */
  halt: AbortSignal;
  /** Aborted when the relay is to end at once. */
  cut: AbortSignal;
};

/** The one connection of a relay, which also receives its notifications. */
export class RelayConnection implements OutboxQueries {
  readonly #connection: OutboxConnection;
  #listens: boolean;
  readonly #lock: string;
  #isNotified = false;
  #wake: () => void = () => undefined;
  /** The cause of its loss: the next statement's error does not have it. */
  #lost: Error | undefined;
  readonly #onError = (error: Error): void => {
    this.#lost = error;
    this.#wake();
  };
  readonly #onNotification = (): void => {
    this.#isNotified = true;
    this.#wake();
  };

  private constructor(connection: OutboxConnection, { listens, table }: RelayTerms) {
    this.#connection = connection;
    this.#listens = listens;
    this.#lock = sleepingLock(table);
  }

  /**
   * Works on a connection from the pool. What fails closes it: its transaction may be open, a lock held. Rejects when it is
   * halted while it waits for a connection, and when it is cut, whatever it waits for.
   */
  static async use(
    pool: OutboxPool,
    terms: RelayTerms,
    work: (relaying: RelayConnection) => Promise<void>,
  ): Promise<void> {
    const connection = await unlessHalted(pool, terms.halt);
    const relaying = new RelayConnection(connection, terms);
    connection.on('error', relaying.#onError);
    connection.on('notification', relaying.#onNotification);
    let failure: Error | undefined;
    try {
      await unlessAborted(relaying.#work(work), terms.cut);
    } catch (error) {
      failure = relaying.#lost ?? (error instanceof Error ? error : new Error(String(error)));
      throw failure;
    } finally {
      connection.removeListener('notification', relaying.#onNotification);
      if (failure === undefined) connection.removeListener('error', relaying.#onError);
      connection.release(failure);
    }
  }

  async #work(work: (relaying: RelayConnection) => Promise<void>): Promise<void> {
    this.#listens &&= await this.#mayBeNotified();
    if (this.#listens) await this.query(`listen ${outboxChannel}`);
    await work(this);
    if (this.#listens) await this.query(`unlisten ${outboxChannel}`);
  }

  /**
   * False where transactions may be prepared, as two-phase commits are: Postgres refuses to prepare one that has notified, so that callers
   * would fail whenever a relay sleeps. Changes only with a restart of Postgres, which ends this connection.
   */
  async #mayBeNotified(): Promise<boolean> {
    const { rows } = await this.query(`select current_setting('max_prepared_transactions') as prepared`);
    return rows[0]?.['prepared'] === '0';
  }

  async query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }> {
    return await limited(this.#connection.query(text, values));
  }

  /** Forgets notifications: their rows are read now. */
  forgetNotifications(): void {
    this.#isNotified = false;
  }

  /** Waits for this long, or until a notification, or the signal. */
  async wait(limitMs: number, halt: AbortSignal): Promise<void> {
    if (this.#isNotified) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    halt.addEventListener('abort', this.#wake);
    if (halt.aborted) woken.abort();
    await systemClock.sleep(limitMs, woken.signal);
    halt.removeEventListener('abort', this.#wake);
  }

  /** Has every transaction that puts something into the outbox notify. False while one is open that will not, and where another relay sleeps. */
  async fallAsleep(): Promise<boolean> {
    if (!this.#listens) return false;
    const { rows } = await this.query(`select pg_try_advisory_lock(${this.#lock}) as is_asleep`);
    return rows[0]?.['is_asleep'] === true;
  }

  /** False if it held no lock: a pooler gave one connection to Postgres to lock by, and now another. */
  async wakeUp(): Promise<boolean> {
    const { rows } = await this.query(`select pg_advisory_unlock(${this.#lock}) as was_asleep`);
    this.#listens = rows[0]?.['was_asleep'] === true;
    return this.#listens;
  }
}

/** The lock that a relay holds while it sleeps, as SQL. */
function sleepingLock(table: string): string {
  return `(2002876770::bigint << 32) + '${table.replaceAll("'", "''")}'::regclass::oid::bigint`;
}

/** Resolves with a connection of the pool; one that arrives after the halt goes back at once. */
async function unlessHalted(pool: OutboxPool, halt: AbortSignal): Promise<OutboxConnection> {
  const connecting = pool.connect();
  try {
    return await unlessAborted(connecting, halt);
  } catch (error) {
    if (halt.aborted)
      connecting.then(
        (late) => late.release(),
        () => undefined,
      );
    throw error;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('the relay is closed'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function limited<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`Postgres has not answered within ${QUERY_LIMIT_MS} ms`)),
      QUERY_LIMIT_MS,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
