/** The broker has the message, but no queue does: none is bound where it was sent. */
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

/** Its destination confirms nothing for now: it was not sent, or may arrive yet, and is not waited for. */
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

/** Why what was published got no confirm. */
export function unconfirmed(error: unknown): Unconfirmed {
  return new Unconfirmed(error instanceof Error ? error.message : String(error));
}

const TOO_LARGE = /is larger than (?:configured )?max size (\d+)/;

/** Bytes of the largest message that the broker takes, where it closes a channel for one that is larger. */
export function largestIn(reason: string): number | undefined {
  const [, largest] = TOO_LARGE.exec(reason) ?? [];
  return largest === undefined ? undefined : Number(largest);
}
