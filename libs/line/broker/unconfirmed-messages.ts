import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Publication } from '../messages.ts';
import { publishOptions } from './amqp-message.ts';

/** The broker has the message, but no queue does: nobody is bound where it was sent. */
export class Unroutable extends Error {
  constructor({ exchange, routingKey }: Destination) {
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

/** Its destination does not confirm what it has: nothing was sent, so that nothing waits for it. */
export class Stalled extends Error {
  constructor({ exchange, routingKey }: Destination) {
    super(`what is published to exchange "${exchange}" with key "${routingKey}" is not confirmed`);
    this.name = 'Stalled';
  }
}

/** The broker takes no message of that size, now or later: nothing was sent, or the broker threw it away. */
export class TooLarge extends Error {
  constructor(bytes: number, largest: number) {
    super(`a message of ${bytes} bytes; the broker takes ${largest} at most (max_message_size)`);
    this.name = 'TooLarge';
  }
}

export type Destination = { readonly exchange: string; readonly routingKey: string };

/** What becomes of a publication that no queue has, or of which that is not known. */
export type PublishError = Unroutable | Unconfirmed | Stalled | TooLarge;

/** Called once: with nothing when a queue has the message. */
export type OnSettled = (error: PublishError | undefined) => void;

type Sent = {
  publication: Publication;
  onSettled: OnSettled;
  /** By a clock that nobody sets. */
  sentAt: number;
  isReturned: boolean;
};

export type UnconfirmedOptions = {
  clock: Clock;
  /** What may be unconfirmed at once; a blocked connection would buffer it without bound. */
  limits: { messages: number; bytes: number };
};

/** What was published and not yet confirmed, oldest first, and what waits because that is as much as may be. */
export class UnconfirmedMessages {
  readonly #clock: Clock;
  readonly #limits: UnconfirmedOptions['limits'];
  readonly #sent = new Set<Sent>();
  #channel: ConfirmChannel | undefined;
  #bytes = 0;
  readonly #waiting: Sent[] = [];

  constructor({ clock, limits }: UnconfirmedOptions) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#sent.size;
  }

  /** From now on messages go out by this channel. */
  open(channel: ConfirmChannel): void {
    this.#channel = channel;
  }

  /** Nothing goes out any more; no confirm will come for what did. */
  close(why: string): void {
    this.#channel = undefined;
    for (const sent of this.#sent) this.#settle(sent, new Unconfirmed(why));
  }

  send(publication: Publication, onSettled: OnSettled): void {
    const sent = { publication, onSettled, sentAt: 0, isReturned: false };
    if (this.#waiting.length === 0 && this.#hasRoom()) this.#publish(sent);
    else this.#waiting.push(sent);
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

  isOverdue(limitMs: number): boolean {
    const [oldest] = this.#sent;
    return oldest !== undefined && this.#clock.now() - oldest.sentAt > limitMs;
  }

  startClocksAgain(): void {
    for (const sent of this.#sent) sent.sentAt = this.#clock.now();
  }

  #publish(sent: Sent): void {
    const { publication, onSettled } = sent;
    if (this.#channel === undefined) return onSettled(new Unconfirmed('the broker is away'));
    sent.sentAt = this.#clock.now();
    this.#sent.add(sent);
    this.#bytes += publication.body.length;
    const { exchange, routingKey, body } = publication;
    try {
      this.#channel.publish(exchange, routingKey, body, publishOptions(publication), (refusal: unknown) => {
        this.#settle(sent, refusal === null ? undefined : new Unconfirmed(reasonOf(refusal)));
      });
    } catch (error) {
      this.#settle(sent, new Unconfirmed(reasonOf(error)));
    }
  }

  #settle(sent: Sent, error: Unconfirmed | undefined): void {
    if (!this.#sent.delete(sent)) return;
    const { publication, onSettled, isReturned } = sent;
    this.#bytes -= publication.body.length;
    onSettled(error ?? (isReturned ? new Unroutable(publication) : undefined));
    this.#admit();
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (next !== undefined) this.#publish(next);
    }
  }

  /** One message may exceed the bytes: it would never find room otherwise. */
  #hasRoom(): boolean {
    return this.#sent.size < this.#limits.messages && this.#bytes < this.#limits.bytes;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
