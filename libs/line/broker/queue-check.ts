import type { ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { type QueueState, statesOf } from './broker-connection.ts';

export type QueueCheckOptions = {
  queues: readonly string[];
  /** Lists the queues that this process consumes at the moment. */
  consumed?: () => readonly string[];
  log: Log;
  clock: Clock;
};

/** Number of checks at the same time, to save round trips for two hundred queues. */
const SIDE_BY_SIDE = 16;

/** With the checks that confirm it, what is wrong is named within a minute. */
const CHECK_EVERY_MS = 40_000;

const CHECK_AGAIN_MS = 5_000;

/** A busy broker may answer late once. */
const CHECKS_WITHOUT_LEADER = 3;

const NO_LEADER = 'has no leader, see the runbook WaybellQueueUnavailable';

/** Queues that are missing, that the user has no right to, or that have no leader, each with what to do. */
type Lacking = ReadonlyMap<string, string>;

/**
 * Checks the queues that this process publishes to or consumes: after each connect, every 40 s, and every few seconds while something is
 * wrong. Uses the connection that consumes, because alarms do not block it. AMQP has no way to check bindings.
 */
export class QueueCheck {
  readonly #options: QueueCheckOptions;
  #connection: ChannelModel | undefined;
  /** Undefined until the first check. */
  #lacking: Lacking | undefined;
  /** How many checks in a row found no sign of a leader. */
  #leaderless: ReadonlyMap<string, number> = new Map();
  #isChecking = false;
  #again: (Timer & { at: number }) | undefined;

  constructor(options: QueueCheckOptions) {
    this.#options = options;
    if (options.queues.length === 0) this.#lacking = new Map();
  }

  connected(connection: ChannelModel): void {
    this.#connection = connection;
    void this.#check();
  }

  disconnected(): void {
    this.#connection = undefined;
  }

  /** Checks again soon: a message was returned, so a queue may be gone. */
  checkAgain(afterMs = CHECK_AGAIN_MS): void {
    const { clock } = this.#options;
    const at = clock.now() + afterMs;
    if (this.#again !== undefined && this.#again.at <= at) return;
    this.#again?.[Symbol.dispose]();
    const timer = clock.after(afterMs, () => {
      this.#again = undefined;
      void this.#check();
    });
    timer.unref();
    this.#again = Object.assign(timer, { at });
  }

  /** Lists queues that are missing or without a leader, each with what to do. */
  waitingFor(): string[] {
    if (this.#lacking === undefined) return ['a look at the queues'];
    return [...this.#lacking].map(([queue, todo]) => `queue ${queue} (${todo})`);
  }

  close(): void {
    this.disconnected();
    this.#again?.[Symbol.dispose]();
  }

  async #check(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || this.#isChecking) return;
    this.#isChecking = true;
    const { consumed = () => [] } = this.#options;
    const own = consumed();
    const queues = [...new Set([...this.#options.queues, ...own])];
    const groups = Array.from({ length: SIDE_BY_SIDE }, (_, place) =>
      queues.filter((_queue, index) => index % SIDE_BY_SIDE === place),
    );
    const checked = await Promise.all(groups.map((group) => checkQueues(connection, group))).catch(() => undefined);
    this.#isChecking = false;
    // The connection was replaced in the meantime: ask the new one.
    if (connection !== this.#connection) return void this.#check();
    if (checked !== undefined)
      this.#found(
        this.#lackingOf(
          checked.flat(),
          own.filter((queue) => consumed().includes(queue)),
        ),
      );
    const isFine = checked !== undefined && this.#leaderless.size + (this.#lacking?.size ?? 0) === 0;
    this.checkAgain(isFine ? CHECK_EVERY_MS : CHECK_AGAIN_MS);
  }

  /** `own`: queues that this process consumes, which have a consumer at least, unless nobody there knows. */
  #lackingOf(checked: readonly CheckedQueue[], own: readonly string[]): Lacking {
    const leaderless = new Map<string, number>();
    const lacking = new Map<string, string>();
    for (const { queue, todo, state } of checked) {
      if (todo !== undefined) lacking.set(queue, todo);
      if (state === undefined || (state.isKnown && (state.consumers > 0 || !own.includes(queue)))) continue;
      const times = (this.#leaderless.get(queue) ?? 0) + 1;
      leaderless.set(queue, times);
      if (times >= CHECKS_WITHOUT_LEADER) lacking.set(queue, NO_LEADER);
    }
    this.#leaderless = leaderless;
    return lacking;
  }

  #found(lacking: Lacking): void {
    const { log } = this.#options;
    for (const [queue, todo] of lacking)
      if (this.#lacking?.get(queue) !== todo)
        log.error({ queue, todo }, todo === NO_LEADER ? 'queue.unavailable' : 'queue.missing');
    for (const queue of this.#lacking?.keys() ?? []) if (!lacking.has(queue)) log.info({ queue }, 'queue.found');
    this.#lacking = lacking;
  }
}

/** A checked queue: its state, or what to do about it. */
type CheckedQueue = { queue: string; state?: QueueState | undefined; todo?: string };

/** Rejects if the broker cannot be asked. */
async function checkQueues(connection: ChannelModel, queues: readonly string[]): Promise<CheckedQueue[]> {
  if (queues.length === 0) return [];
  const refused = new Set<string>();
  const states = await statesOf(connection, queues, (name) => refused.add(name));
  const found = new Map(states.map((state) => [state.name, state]));
  return queues.map((queue) => {
    if (found.has(queue)) return { queue, state: found.get(queue) };
    return { queue, todo: refused.has(queue) ? './waybell permissions' : './waybell declare' };
  });
}
