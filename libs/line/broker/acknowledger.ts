import type { Channel, ConsumeMessage, Message } from 'amqplib';
import { Settlements } from './settlements.ts';

/** Settles what came by one channel. Acknowledgements of one tick leave together, as few as they can be. */
export class Acknowledger {
  readonly #channel: Channel;
  readonly #settlements = new Settlements();
  #isSending = false;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  ack({ fields }: ConsumeMessage): void {
    this.#settlements.acknowledge(fields.deliveryTag);
    if (this.#isSending) return;
    this.#isSending = true;
    process.nextTick(() => this.send());
  }

  giveBack(message: ConsumeMessage): void {
    this.#settlements.giveBack(message.fields.deliveryTag);
    this.#try(() => this.#channel.nack(message, false, true));
  }

  /** Sends at once what waits for the end of the tick. */
  send(): void {
    this.#isSending = false;
    for (const { tag, isAllUpTo } of this.#settlements.take()) {
      // The tag is all that the library reads of a message.
      this.#try(() => this.#channel.ack({ fields: { deliveryTag: tag } } as Message, isAllUpTo));
    }
  }

  /** On a channel that is gone it throws; the broker has the message back then. */
  #try(settle: () => void): void {
    try {
      settle();
    } catch {
      // The channel went just now.
    }
  }
}
