import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Publication } from '../messages.ts';
import { publishOptions } from './publish-options.ts';

/** The broker has the message, but no queue does: nobody is bound where it was sent. */
export class Unroutable extends Error {
  constructor({ exchange, routingKey }: Publication) {
    super(`no queue is bound to exchange "${exchange}" with key "${routingKey}"`);
    this.name = 'Unroutable';
  }
}

/** No confirm came: the message may or may not be in its queue. Publishing it again can only duplicate it. */
export class Unconfirmed extends Error {
  constructor(why: string) {
    super(`publish not confirmed: ${why}`);
    this.name = 'Unconfirmed';
  }
}

type Sent = {
  publication: Publication;
  /** By a clock that nobody sets. */
  sentAt: number;
  isReturned: boolean;
  settle(error: Error | undefined): void;
};

/** What was published and not yet confirmed, oldest first. */
export class UnconfirmedMessages {
  readonly #clock: Clock;
  readonly #sent = new Set<Sent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sent.size;
  }

  /** Resolves when a queue has the message. Rejects with `Unroutable` or `Unconfirmed`. */
  send(channel: ConfirmChannel, publication: Publication): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent: Sent = {
        publication,
        sentAt: this.#clock.now(),
        isReturned: false,
        settle: (error) => {
          if (!this.#sent.delete(sent)) return;
          if (error !== undefined) reject(error);
          else if (sent.isReturned) reject(new Unroutable(publication));
          else resolve();
        },
      };
      this.#sent.add(sent);
      const { exchange, routingKey, body } = publication;
      try {
        channel.publish(exchange, routingKey, body, publishOptions(publication), (refusal: unknown) => {
          sent.settle(refusal === null ? undefined : new Unconfirmed(reasonOf(refusal)));
        });
      } catch (error) {
        sent.settle(new Unconfirmed(reasonOf(error)));
      }
    });
  }

  /** A return comes before its confirm. Of messages that cannot be told apart, all count as returned. */
  returned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    for (const sent of this.#sent) {
      const { exchange, routingKey, messageId } = sent.publication;
      if (exchange !== message.exchange || routingKey !== message.routingKey || messageId !== message.messageId)
        continue;
      sent.isReturned = true;
    }
  }

  failAll(why: string): void {
    for (const sent of this.#sent) sent.settle(new Unconfirmed(why));
  }

  isOverdue(limitMs: number): boolean {
    const [oldest] = this.#sent;
    return oldest !== undefined && this.#clock.now() - oldest.sentAt > limitMs;
  }

  startClocksAgain(): void {
    for (const sent of this.#sent) sent.sentAt = this.#clock.now();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
