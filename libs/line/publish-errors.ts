/** No queue is bound for the message: the broker has dropped it. */
export class Unroutable extends Error {
  constructor({ exchange, routingKey }: Destination) {
    super(`no queue is bound to exchange "${exchange}" with key "${routingKey}"`);
    this.name = 'Unroutable';
  }
}

/** No confirm came: the message may or may not be in its queue. Publishing it again may duplicate it, and loses nothing. */
export class Unconfirmed extends Error {
  constructor(why: string) {
    super(`publish not confirmed: ${why}`);
    this.name = 'Unconfirmed';
  }
}

/** The destination confirms nothing at the moment. The message was not sent, or may still arrive. */
export class Stalled extends Error {
  constructor({ exchange, routingKey }: Destination) {
    super(`what is published to exchange "${exchange}" with key "${routingKey}" is not confirmed`);
    this.name = 'Stalled';
  }
}

/** The message is larger than the broker's limit. It was not sent, or the broker has dropped it. Publishing it again is useless. */
export class TooLarge extends Error {
  constructor(bytes: number, largest: number) {
    super(`a message of ${bytes} bytes; the broker takes ${largest} at most (max_message_size)`);
    this.name = 'TooLarge';
  }
}

export type Destination = { readonly exchange: string; readonly routingKey: string };

/** Why a publication is not, or may not be, in a queue. */
export type PublishError = Unroutable | Unconfirmed | Stalled | TooLarge;

/** Called once; without an error if the broker has confirmed the message. */
export type OnSettled = (error: PublishError | undefined) => void;

/** Wraps an error of the client library. */
export function unconfirmed(error: unknown): Unconfirmed {
  return new Unconfirmed(error instanceof Error ? error.message : String(error));
}

const TOO_LARGE = /is larger than (?:configured )?max size (\d+)/;

/** Reads the broker's limit, in bytes, from the reason with which it closed a channel; undefined for any other reason. */
export function largestIn(reason: string): number | undefined {
  const [, largest] = TOO_LARGE.exec(reason) ?? [];
  return largest === undefined ? undefined : Number(largest);
}
