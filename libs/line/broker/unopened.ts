import type { ConsumedMessage } from './consumed-channel.ts';
import type { Consuming } from './queue-consumer.ts';

export type UnopenedOptions = Consuming & {
  /** Messages in hand at once, over all queues: members are counted, until what they came in is settled. */
  limit: number;
};

/** Bundles that wait as they came, the oldest first, while as many messages are in hand as may be. */
export class Unopened {
  readonly #options: UnopenedOptions;
  readonly #waiting = new Set<ConsumedMessage>();
  #open = 0;

  constructor(options: UnopenedOptions) {
    this.#options = options;
  }

  take(source: ConsumedMessage): void {
    if (this.#waiting.size === 0 && this.#hasRoom(source)) this.#hand(source);
    else this.#waiting.add(source);
  }

  readonly settled = (source: ConsumedMessage): void => {
    this.#left(source);
  };

  readonly cut = (source: ConsumedMessage): void => {
    if (this.#left(source)) this.#options.onCut(source);
  };

  giveBackAll(): void {
    for (const source of this.#waiting) source.giveBack();
  }

  /** Whether it was in hand. */
  #left(source: ConsumedMessage): boolean {
    if (this.#waiting.delete(source)) return false;
    this.#open -= source.count;
    for (const next of this.#waiting) {
      if (!this.#hasRoom(next)) break;
      this.#waiting.delete(next);
      this.#hand(next);
    }
    return true;
  }

  #hand(source: ConsumedMessage): void {
    this.#open += source.count;
    this.#options.onTaken(source);
  }

  /** One bundle may exceed the limit: it would never find room otherwise. */
  #hasRoom({ count }: ConsumedMessage): boolean {
    return this.#open === 0 || this.#open + count <= this.#options.limit;
  }
}
