import type { Clock } from '@waybell/runtime/clock';
import type { Broker, ConsumeCallbacks, Consumer } from './broker.ts';

export type QuarantineOptions = ConsumeCallbacks & {
  queue: string;
  clock: Clock;
  /** Whether the step holds a message from another queue that it took within the last `withinMs`. */
  hasNew: (withinMs: number) => boolean;
  /** Runs when other messages are taken beside a quarantined one again. */
  onBeside: () => void;
};

/** How often a process looks for messages left by a process that never came back. */
const LOOK_MS = 10_000;
/** Delay of the next look while the broker is away. */
const RETRY_MS = 500;
/** Messages held for longer do not crash a process at once; they are not waited for. */
const OLD_MS = 2_000;
/** Limit of running alone; then others go on beside the quarantined message. */
const ALONE_MS = 3_000;
/** The next pause comes after this many times the length of the last one. */
const REST_TIMES = 9;
const STEP_MS = 100;
const NOTHING_WANTED = 'nothing in quarantine';

/**
 * Consumes messages that may have crashed their process, one at a time, while the process holds no other recent message: a crash then
 * has one possible cause. Other consumers are paused for at most five seconds at a time, and a tenth of the time.
 */
export class Quarantine {
  readonly #broker: Pick<Broker, 'alone' | 'consume' | 'depth'>;
  readonly #queue: string;
  readonly #clock: Clock;
  readonly #hasNew: QuarantineOptions['hasNew'];
  readonly #onBeside: () => void;
  readonly consumer: Consumer;
  readonly #closing = Promise.withResolvers<void>();
  #isClosed = false;
  readonly #watching: Promise<void>;
  #told = Promise.withResolvers<void>();

  constructor(broker: Pick<Broker, 'alone' | 'consume' | 'depth'>, options: QuarantineOptions) {
    const { queue, clock, hasNew, onBeside, ...consuming } = options;
    this.#broker = broker;
    this.#clock = clock;
    this.#hasNew = hasNew;
    this.#onBeside = onBeside;
    this.#queue = queue;
    this.consumer = broker.consume([queue], { messages: 1, bytes: Number.MAX_SAFE_INTEGER }, consuming);
    void this.consumer.pause(NOTHING_WANTED);
    this.#watching = this.#watch();
  }

  /** Looks now: a message was put into the queue. */
  look(): void {
    this.#told.resolve();
  }

  /** Stops looking for messages. Resolves when it has stopped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.resolve();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      this.#told = Promise.withResolvers<void>();
      const found = await this.#count();
      if (found === undefined) await this.#wait(RETRY_MS);
      else if (found === 0) await this.#wait(LOOK_MS);
      else await this.#round();
    }
  }

  async #round(): Promise<void> {
    const beganAt = this.#clock.now();
    await this.#broker.alone(this.consumer, { oldMs: OLD_MS, hasNew: this.#hasNew }, () => this.#empty());
    const restsUntil = this.#clock.now() + REST_TIMES * (this.#clock.now() - beganAt);
    const isResting = () => this.#clock.now() < restsUntil || this.consumer.held() > 0;
    while (isResting() && !this.#isClosed) await this.#clock.sleep(STEP_MS);
  }

  async #empty(): Promise<void> {
    const endsAt = this.#clock.now() + ALONE_MS;
    this.consumer.resume(NOTHING_WANTED);
    // Twice: a message that is no longer ready may still be on its way.
    for (let empty = 0; empty < 2 && this.#clock.now() < endsAt && !this.#isClosed;) {
      await this.#clock.sleep(STEP_MS);
      const isEmpty = this.consumer.held() === 0 && !((await this.#count()) ?? 0);
      empty = isEmpty ? empty + 1 : 0;
    }
    await this.consumer.pause(NOTHING_WANTED);
    this.#onBeside();
  }

  /** Returns the messages in the queue; undefined if the broker cannot be asked or does not know. */
  async #count(): Promise<number | undefined> {
    try {
      const depth = await Promise.race([this.#broker.depth([this.#queue]), this.#closing.promise]);
      return depth?.isExact === true ? depth.messages : undefined;
    } catch {
      return undefined;
    }
  }

  /** Resolves after the limit, at the next `look`, or on `close`. */
  async #wait(limitMs: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#told.promise, this.#clock.sleep(limitMs, over.signal), this.#closing.promise]);
    over.abort();
  }
}
