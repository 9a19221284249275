import type { ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { statesOf } from './depth.ts';

export type QueueCheckOptions = { queues: readonly string[]; log: Log; clock: Clock };

/** Number of checks at the same time, to save round trips for two hundred queues. */
const SIDE_BY_SIDE = 16;
const LOOK_AGAIN_MS = 5_000;

/** Queues that are missing or that the user has no right to, each with the command that fixes it. */
type Lacking = ReadonlyMap<string, string>;

/**
 * Checks that the queues which this process publishes to exist: after each connect, and every few seconds while one is missing. Uses
 * the connection that consumes, because alarms do not block it. AMQP has no way to check bindings.
 */
export class QueueCheck {
  readonly #options: QueueCheckOptions;
  #connection: ChannelModel | undefined;
  /** Undefined until the first check. */
  #lacking: Lacking | undefined;
  #isLooking = false;
  #again: Timer | undefined;

  constructor(options: QueueCheckOptions) {
    this.#options = options;
    if (options.queues.length === 0) this.#lacking = new Map();
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#look();
  }

  disconnected(): void {
    this.#connection = undefined;
  }

  /** Checks again soon: a message was returned, so a queue may be gone. */
  lookAgain(): void {
    if (this.#again !== undefined) return;
    this.#again = this.#options.clock.after(LOOK_AGAIN_MS, () => {
      this.#again = undefined;
      void this.#look();
    });
    this.#again.unref();
  }

  /** Lists missing queues, each with the command that fixes it. */
  waitingFor(): string[] {
    if (this.#lacking === undefined) return ['a look at the queues'];
    return [...this.#lacking].map(([queue, todo]) => `queue ${queue} (${todo})`);
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
    const found = await Promise.all(groups.map((group) => lackingOf(connection, group))).catch(() => undefined);
    this.#isLooking = false;
    // The connection was replaced in the meantime: ask the new one.
    if (connection !== this.#connection) return void this.#look();
    if (found !== undefined) this.#found(new Map(found.flat()));
    if (found === undefined || found.flat().length > 0) this.lookAgain();
  }

  #found(lacking: Lacking): void {
    const { log } = this.#options;
    for (const [queue, todo] of lacking)
      if (this.#lacking?.get(queue) !== todo) log.error({ queue, todo }, 'queue.missing');
    for (const queue of this.#lacking?.keys() ?? []) if (!lacking.has(queue)) log.info({ queue }, 'queue.found');
    this.#lacking = lacking;
  }
}

/** Rejects if the broker cannot be asked. */
async function lackingOf(connection: ChannelModel, queues: readonly string[]): Promise<[string, string][]> {
  if (queues.length === 0) return [];
  const refused = new Set<string>();
  const states = await statesOf(connection, queues, (name) => refused.add(name));
  const found = new Set(states.map(({ name }) => name));
  return queues
    .filter((queue) => !found.has(queue))
    .map((queue) => [queue, refused.has(queue) ? './waybell permissions' : './waybell declare']);
}
