import type { ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { messageOf } from '@waybell/runtime/server-trouble';
import { statesOf } from './depth.ts';

export type QueueCheckOptions = { queues: readonly string[]; log: Log; clock: Clock };

/** Looked at side by side, so that a slow way is gone a few times, not once for each of two hundred. */
const SIDE_BY_SIDE = 16;
const LOOK_AGAIN_MS = 5_000;

/**
 * Finds out which of the queues that this process publishes to are missing: after each connect, and every few seconds while
 * one is. Whether a queue is bound AMQP does not tell. It asks by a connection that no alarm blocks.
 */
export class QueueCheck {
  readonly #options: QueueCheckOptions;
  #connection: ChannelModel | undefined;
  /** Undefined until they have been looked at once. */
  #missing: ReadonlySet<string> | undefined;
  #isLooking = false;
  #isRefused = false;
  #again: Timer | undefined;

  constructor(options: QueueCheckOptions) {
    this.#options = options;
    if (options.queues.length === 0) this.#missing = new Set();
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#look();
  }

  disconnected(): void {
    this.#connection = undefined;
  }

  /** What was published came back: a queue may have gone. */
  lookAgain(): void {
    if (this.#again !== undefined) return;
    this.#again = this.#options.clock.after(LOOK_AGAIN_MS, () => {
      this.#again = undefined;
      void this.#look();
    });
    this.#again.unref();
  }

  /** What is lacking, and what to do about it. */
  waitingFor(): string[] {
    if (this.#missing === undefined) return ['a look at the queues'];
    return [...this.#missing].map((queue) => `queue ${queue} (./waybell declare)`);
  }

  close(): void {
    this.disconnected();
    this.#again?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#isLooking) return;
    this.#isLooking = true;
    const { queues } = this.#options;
    const groups = Array.from({ length: SIDE_BY_SIDE }, (_, place) =>
      queues.filter((_queue, index) => index % SIDE_BY_SIDE === place),
    );
    const looked = Promise.all(groups.map((group) => missingOf(connection, group)));
    const found = await looked.then((missing) => missing.flat(), messageOf);
    this.#isLooking = false;
    // The answer of a connection that was lost meanwhile says nothing; the next, which may be there already, is asked.
    if (connection !== this.#connection) return void this.#look();
    if (typeof found === 'string') this.#failed(found);
    else this.#found(new Set(found));
    if (typeof found === 'string' || found.length > 0) this.lookAgain();
  }

  /** It is not let: since RabbitMQ 4.3 one may ask only for what one has some right to. */
  #failed(reason: string): void {
    if (!this.#isRefused) this.#options.log.error({ reason, todo: './waybell permissions' }, 'queue.look-failed');
    this.#isRefused = true;
  }

  #found(missing: ReadonlySet<string>): void {
    const { log } = this.#options;
    for (const queue of missing)
      if (this.#missing?.has(queue) !== true) log.error({ queue, todo: './waybell declare' }, 'queue.missing');
    for (const queue of this.#missing ?? []) if (!missing.has(queue)) log.info({ queue }, 'queue.found');
    this.#missing = missing;
    this.#isRefused = false;
  }
}

/** Rejects where the broker cannot be asked, or does not let this user ask. */
async function missingOf(connection: ChannelModel, queues: readonly string[]): Promise<string[]> {
  if (queues.length === 0) return [];
  const found = new Set((await statesOf(connection, queues)).map(({ name }) => name));
  return queues.filter((queue) => !found.has(queue));
}
