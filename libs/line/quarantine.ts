import type { Clock } from '@waybell/runtime/clock';
import type { Broker } from './broker/connect-broker.ts';
import type { Consumer } from './broker/consumers.ts';
import type { Consuming } from './broker/queue-consumer.ts';

export type QuarantineOptions = Consuming & {
  queue: string;
  clock: Clock;
  /** Whether the step has anything in hand that it took within so many milliseconds from elsewhere. */
  hasNew: (withinMs: number) => boolean;
  /** What is in hand has others beside it from now on. */
  onBeside: () => void;
};

/** How often a process looks for what another left that died for good. */
const LOOK_MS = 10_000;
/** How soon it looks again while the broker is away. */
const RETRY_MS = 500;
/** What others have held for so long is not what kills. */
const OLD_MS = 2_000;
/** What has been at work alone for so long does not kill at once: others go on, beside it. */
const ALONE_MS = 3_000;
/** How much longer than they waited others go on before they are to wait again. */
const REST_TIMES = 9;
const STEP_MS = 100;
const NOTHING_WANTED = 'nothing in quarantine';

/**
 * Takes what may have killed its process, one at a time, and only while the process has nothing else in hand that is new:
 * if it dies then, it is clear of what, and nothing is blamed for its neighbour. Others wait for that five seconds at a
 * time, and a tenth of the time, at most.
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

  /** There is something in it. */
  look(): void {
    this.#told.resolve();
  }

  /** Resolves when nothing of it is in hand. */
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
    // Twice: what is no longer ready may still be on its way to here.
    for (let empty = 0; empty < 2 && this.#clock.now() < endsAt && !this.#isClosed;) {
      await this.#clock.sleep(STEP_MS);
      const isEmpty = this.consumer.held() === 0 && !((await this.#count()) ?? 0);
      empty = isEmpty ? empty + 1 : 0;
    }
    await this.consumer.pause(NOTHING_WANTED);
    this.#onBeside();
  }

  /** What is in it; undefined where the broker cannot be asked, or does not know. */
  async #count(): Promise<number | undefined> {
    try {
      const depth = await Promise.race([this.#broker.depth([this.#queue]), this.#closing.promise]);
      return depth?.isExact === true ? depth.messages : undefined;
    } catch {
      return undefined;
    }
  }

  /** Until so long has passed, it is said that there is something in it, or it is closed. */
  async #wait(limitMs: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#told.promise, this.#clock.sleep(limitMs, over.signal), this.#closing.promise]);
    over.abort();
  }
}
