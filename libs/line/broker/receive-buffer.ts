import type { HeldLimit } from '../prefetch-budget.ts';
import type { ConsumedMessage } from './consumed-channel.ts';
import type { Consuming } from './queue-consumer.ts';

export type ReceiveBufferOptions = Consuming & {
  /** In hand at once, over all queues: messages, members counted, and what they weigh, until what they came in is settled. */
  limit: HeldLimit;
};

/** Limit of what waits: beyond it bytes are let go of, and fetched again when their message may be opened. */
const MOST_WAITING_BYTES = 2 ** 23;

/** What weighs more than this is large: of the bytes in hand, all that are so have a part together, so that small ones pass them. */
const LARGE_BYTES = 2 ** 16;
const LARGE_PART = 3 / 4;

/**
 * Messages that wait as they came, the oldest first, while as much is in hand as may be. What the broker sends was granted
 * by number: there is no telling how large it is before it is there.
 */
export class ReceiveBuffer {
  readonly #options: ReceiveBufferOptions;
  readonly #waiting = new Set<ConsumedMessage>();
  #waitingBytes = 0;
  #open = 0;
  #bytes = 0;
  #largeBytes = 0;

  constructor(options: ReceiveBufferOptions) {
    this.#options = options;
  }

  take(source: ConsumedMessage): void {
    // With nothing in hand, what waits was let go of, and nothing would hand this on.
    const isNext = this.#waiting.size === 0 || this.#open === 0;
    if (isNext && this.#hasRoom(source)) this.#hand(source);
    else this.#wait(source);
  }

  readonly settled = (source: ConsumedMessage): void => {
    this.#left(source);
  };

  readonly cut = (source: ConsumedMessage): void => {
    // The consumer has been told of what was let go of.
    const isHeardOf = !source.isWhole;
    this.#left(source);
    if (!isHeardOf) this.#options.onCut(source);
  };

  giveBackAll(): void {
    for (const source of this.#waiting) {
      if (source.isWhole) this.#options.onCut(source);
      source.giveBack();
    }
  }

  #wait(source: ConsumedMessage): void {
    this.#waiting.add(source);
    if (this.#waitingBytes + source.bytes > MOST_WAITING_BYTES) {
      // While it can still be told by what is in it: that it comes again kills no process.
      this.#options.onCut(source);
      source.letGo();
    }
    this.#waitingBytes += source.bytes;
  }

  #left(source: ConsumedMessage): void {
    if (this.#stopWaiting(source)) return;
    this.#count(source, -1);
    this.#handOn();
  }

  #stopWaiting(source: ConsumedMessage): boolean {
    const hasWaited = this.#waiting.delete(source);
    if (hasWaited) this.#waitingBytes -= source.bytes;
    return hasWaited;
  }

  #handOn(): void {
    /** For what is sent for again. */
    let reserved = 0;
    for (const next of this.#waiting) {
      if (!this.#hasRoom(next, reserved)) {
        if (isLarge(next)) continue;
        break;
      }
      if (next.isWhole) {
        this.#stopWaiting(next);
        this.#hand(next);
      } else {
        reserved += next.weight;
        next.giveBack();
      }
    }
  }

  #hand(source: ConsumedMessage): void {
    this.#count(source, 1);
    this.#options.onTaken(source);
  }

  #count({ count, weight }: ConsumedMessage, by: 1 | -1): void {
    this.#open += by * count;
    this.#bytes += by * weight;
    if (weight > LARGE_BYTES) this.#largeBytes += by * weight;
  }

  /** One message may exceed a limit: it would never find room otherwise. */
  #hasRoom(source: ConsumedMessage, reserved = 0): boolean {
    const { count, weight } = source;
    const { messages, bytes } = this.#options.limit;
    if (this.#open > 0 && this.#open + count > messages) return false;
    const ofLarge = bytes * LARGE_PART;
    const [small, large] = [this.#bytes - this.#largeBytes, this.#largeBytes + reserved];
    if (isLarge(source)) return large === 0 || large + weight <= ofLarge;
    return small === 0 || small + Math.min(large, ofLarge) + weight <= bytes;
  }
}

function isLarge({ weight }: ConsumedMessage): boolean {
  return weight > LARGE_BYTES;
}
