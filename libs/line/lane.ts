import type { Broker } from './broker/connect-broker.ts';
import type { Consumer } from './broker/consumers.ts';
import type { Held } from './broker/held.ts';
import { Slots } from './slots.ts';

export type LaneOptions = {
  queues: readonly string[];
  /** Messages held at most, per queue. */
  prefetch: number;
  /** Messages settled at once, over all queues. */
  slots: number;
  /** Acknowledges the message or gives it back, in the end. Never rejects. */
  settle: (held: Held) => Promise<void>;
};

/** Takes messages from queues and has them settled, so many at once; the others wait in hand. */
export class Lane {
  readonly #slots: Slots;
  readonly #settle: LaneOptions['settle'];
  readonly #consumers: Consumer[];
  readonly #inHand = new Set<Promise<void>>();

  constructor(broker: Broker, { queues, prefetch, slots, settle }: LaneOptions) {
    this.#slots = new Slots(slots);
    this.#settle = settle;
    this.#consumers = queues.map((queue) => broker.consume(queue, prefetch, (held) => this.#take(held)));
  }

  get used(): number {
    return this.#slots.used;
  }

  /** Takes no more. Resolves when no further message will come. */
  async pause(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.pause()));
  }

  resume(): void {
    for (const consumer of this.#consumers) consumer.resume();
  }

  async untilEmpty(): Promise<void> {
    while (this.#inHand.size > 0) await Promise.all(this.#inHand);
  }

  #take(held: Held): void {
    const settled = this.#slots.run(() => this.#settle(held));
    this.#inHand.add(settled);
    void settled.finally(() => this.#inHand.delete(settled));
  }
}
