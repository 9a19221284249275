import { systemClock } from '@waybell/runtime/clock';
import type { OutboxConnection, OutboxPool, OutboxQueries } from './outbox-connection.ts';
import { outboxChannel, sleepingLock } from './outbox-migration.ts';

/** A server that is gone without a word would be waited for without end. */
const QUERY_LIMIT_MS = 60_000;

/** The one connection of a relay, and what it hears by it. */
export class RelayConnection implements OutboxQueries {
  readonly #connection: OutboxConnection;
  readonly #listens: boolean;
  #isNotified = false;
  #wake: () => void = () => undefined;
  /** Why it was lost: the next statement only says that it was. */
  #lost: Error | undefined;
  readonly #onError = (error: Error): void => {
    this.#lost = error;
    this.#wake();
  };
  readonly #onNotification = (): void => {
    this.#isNotified = true;
    this.#wake();
  };

  private constructor(connection: OutboxConnection, listens: boolean) {
    this.#connection = connection;
    this.#listens = listens;
  }

  /** Works on a connection from the pool. What fails closes it: its transaction may be open, a lock held. */
  static async use(pool: OutboxPool, listens: boolean, work: (own: RelayConnection) => Promise<void>): Promise<void> {
    const connection = await pool.connect();
    const own = new RelayConnection(connection, listens);
    connection.on('error', own.#onError);
    connection.on('notification', own.#onNotification);
    let failure: Error | undefined;
    try {
      if (listens) await own.query(`listen ${outboxChannel}`);
      await work(own);
      if (listens) await own.query(`unlisten ${outboxChannel}`);
    } catch (error) {
      failure = own.#lost ?? (error instanceof Error ? error : new Error(String(error)));
      throw failure;
    } finally {
      connection.removeListener('notification', own.#onNotification);
      if (failure === undefined) connection.removeListener('error', own.#onError);
      connection.release(failure);
    }
  }

  async query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }> {
    return await limited(this.#connection.query(text, values));
  }

  /** Forgets notifications: what they told of is looked for now. */
  looks(): void {
    this.#isNotified = false;
  }

  /** Waits so long, or until a notification, or the signal. */
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
    const { rows } = await this.query(`select pg_try_advisory_lock(${sleepingLock}) as is_asleep`);
    return rows[0]?.['is_asleep'] === true;
  }

  async wakeUp(): Promise<void> {
    await this.query(`select pg_advisory_unlock(${sleepingLock})`);
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
