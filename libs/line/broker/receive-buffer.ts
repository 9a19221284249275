import type { ConsumeCallbacks } from '../broker.ts';
import type { InHandLimit } from '../prefetch-budget.ts';
import type { ConsumedMessage } from './consumed-channel.ts';

export type ReceiveBufferOptions = ConsumeCallbacks & {
  /** Limit of opened messages over all queues, in messages (members of batches) and bytes, until their AMQP message is settled. */
  limit: InHandLimit;
};

/** Limit of the bodies that wait. Beyond it a body is dropped, and its message given back and received again once it may be opened. */
const MOST_WAITING_BYTES = 2 ** 23;

/** Messages above this size are large. Together they may use only a part of the bytes, so that small messages can pass them. */
const LARGE_BYTES = 2 ** 16;
const LARGE_PART = 3 / 4;

/**
 * Buffers received messages, unopened and in order, while the limit of opened ones is reached. A prefetch counts messages only: their
 * size is not known before they arrive.
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
    // If nothing is opened, no settlement would trigger handing this one on.
    const isNext = this.#waiting.size === 0 || this.#open === 0;
    if (isNext && this.#hasCapacity(source)) this.#hand(source);
    else this.#wait(source);
  }

  readonly settled = (source: ConsumedMessage): void => {
    this.#left(source);
  };

  readonly cut = (source: ConsumedMessage): void => {
    // `onCut` has already run for a message whose body was dropped.
    const isKnown = !source.isWhole;
    this.#left(source);
    if (!isKnown) this.#options.onCut(source);
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
      // Runs while the body is still there: its identity is needed, so that its return counts as no crash.
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
    /** Bytes reserved for messages that were given back to be received again. */
    let reserved = 0;
    for (const next of this.#waiting) {
      if (!this.#hasCapacity(next, reserved)) {
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

  /** A single message may exceed the limit: it could never be opened otherwise. */
  #hasCapacity(source: ConsumedMessage, reserved = 0): boolean {
    const { count, weight } = source;
    const { messages, bytes } = this.#options.limit;
    if (this.#open > 0 && this.#open + count > messages) return false;
    const ofLarge = bytes * LARGE_PART;
    const small = this.#bytes - this.#largeBytes;
    const large = this.#largeBytes + reserved;
    if (isLarge(source)) return large === 0 || large + weight <= ofLarge;
    return small === 0 || small + Math.min(large, ofLarge) + weight <= bytes;
  }
}

function isLarge({ weight }: ConsumedMessage): boolean {
  return weight > LARGE_BYTES;
}
