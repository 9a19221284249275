import type { Broker } from './broker/connect-broker.ts';
import type { Consumer } from './broker/consumers.ts';
import type { Held } from './broker/held.ts';
import type { Hold } from './hold.ts';

export type LaneOptions = {
  queues: readonly string[];
  hold: Hold;
  /** Acknowledges the message or gives it back, in the end. Never rejects. */
  settle: (held: Held) => Promise<void>;
};

/** Takes messages from queues and has each settled at once, and holds no more of them than it may. */
export class Lane {
  readonly #broker: Broker;
  readonly #settle: LaneOptions['settle'];
  readonly #consumer: Consumer;
  readonly #inHand = new Set<Promise<void>>();

  constructor(broker: Broker, { queues, hold, settle }: LaneOptions) {
    this.#broker = broker;
    this.#settle = settle;
    this.#consumer = broker.consume(queues, hold, (held) => this.#take(held));
  }

  get held(): number {
    return this.#inHand.size;
  }

  /** Takes no more until every reason for that is gone. Resolves when no further message will come. */
  async pause(reason: string): Promise<void> {
    await this.#consumer.pause(reason);
  }

  resume(reason: string): void {
    this.#consumer.resume(reason);
  }

  /** Does the work while no other lane of the process takes anything, once they are empty or have had so long for it. */
  async alone(limitMs: number, work: () => Promise<void>): Promise<void> {
    await this.#broker.alone(this.#consumer, limitMs, work);
  }

  async untilEmpty(): Promise<void> {
    while (this.#inHand.size > 0) await Promise.all(this.#inHand);
  }

  #take(held: Held): void {
    const settled = this.#settle(held);
    this.#inHand.add(settled);
    void settled.finally(() => this.#inHand.delete(settled));
  }
}
