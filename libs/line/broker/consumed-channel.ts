import type { Channel, ConsumeMessage, Message as AmqpMessage } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import { newSourceId, type Message, type Source } from '../messages.ts';
import { countMembers, openBundle } from '../bundle.ts';
import { readMessage } from './amqp-message.ts';
import type { Prefetch, Prefetches } from './prefetches.ts';

export type ConsumedChannelOptions = {
  queue: string;
  prefetches: Prefetches;
  onSettled: (source: ConsumedMessage) => void;
  weigh?: Weigh | undefined;
  clock: Pick<Clock, 'now'>;
};

/** Messages of one queue as they come by one channel, each settled at most once. */
export class ConsumedChannel {
  readonly channel: Channel;
  readonly prefetches: Prefetches;
  readonly #queue: string;
  readonly #onSettled: (source: ConsumedMessage) => void;
  readonly #weigh: Weigh;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #settlements = new Settlements();
  readonly #held = new Set<ConsumedMessage>();
  #isOpen = true;
  #isSending = false;

  constructor(channel: Channel, { queue, prefetches, onSettled, weigh = bytesOf, clock }: ConsumedChannelOptions) {
    this.#weigh = weigh;
    this.channel = channel;
    this.#queue = queue;
    this.#onSettled = onSettled;
    this.prefetches = prefetches;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  take(raw: ConsumeMessage, prefetch: Prefetch): ConsumedMessage {
    this.prefetches.taken(prefetch, raw.content.length);
    const taken = new ConsumedMessage(readMessage(this.#queue, raw), {
      channel: this,
      tag: raw.fields.deliveryTag,
      prefetch,
      weigh: this.#weigh,
      takenAt: this.#clock.now(),
    });
    this.#held.add(taken);
    return taken;
  }

  takenLastAt(): number {
    let last = -Infinity;
    for (const { takenAt } of this.#held) last = Math.max(last, takenAt);
    return last;
  }

  /** The channel is gone, and with it what it held: the broker has that back. */
  lose(): Iterable<ConsumedMessage> {
    this.#isOpen = false;
    return this.#held;
  }

  settle(taken: ConsumedMessage, how: 'acknowledge' | 'give back'): void {
    // An acknowledgement on the successor of its channel would close that one too.
    if (!this.#isOpen || !this.#held.delete(taken)) return;
    this.prefetches.settled(taken.prefetch);
    if (how === 'acknowledge') this.#acknowledge(taken.tag);
    else this.#giveBack(taken.tag);
    this.#onSettled(taken);
  }

  /** Sends at once what waits for the end of the tick. */
  flush(): void {
    this.#isSending = false;
    for (const { tag, isAllUpTo } of this.#settlements.take())
      this.#try(() => this.channel.ack(messageOf(tag), isAllUpTo));
  }

  #acknowledge(tag: number): void {
    this.#settlements.acknowledge(tag);
    if (this.#isSending) return;
    this.#isSending = true;
    process.nextTick(() => this.flush());
  }

  #giveBack(tag: number): void {
    this.#settlements.giveBack(tag);
    // Not a nack: since RabbitMQ 4.3 that does not raise `x-delivery-count`.
    this.#try(() => this.channel.reject(messageOf(tag), true));
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

/** What a message weighs once it is read, in bytes. */
export type Weigh = (message: Message) => number;
const bytesOf: Weigh = ({ body }) => body.length;

type ConsumedMessageOptions = {
  channel: ConsumedChannel;
  tag: number;
  prefetch: Prefetch;
  weigh: Weigh;
  takenAt: number;
};

/** One AMQP message. It is opened, if it is a bundle, once its members are asked for. */
export class ConsumedMessage implements Source {
  readonly id = newSourceId();
  /** How many messages it is. */
  readonly count: number;
  readonly tag: number;
  readonly prefetch: Prefetch;
  /** What it weighs in hand, in bytes. */
  readonly weight: number;
  readonly takenAt: number;
  raw?: Message;
  readonly #channel: ConsumedChannel;
  #opened: readonly Message[] | undefined;

  constructor(message: Message, { channel, tag, prefetch, weigh, takenAt }: ConsumedMessageOptions) {
    this.count = countMembers(message);
    this.weight = weigh(message);
    this.tag = tag;
    this.prefetch = prefetch;
    this.takenAt = takenAt;
    this.raw = message;
    this.#channel = channel;
  }

  get messages(): readonly Message[] {
    if (this.raw === undefined) throw new Error('it was let go of, and can only be given back');
    return (this.#opened ??= openBundle(this.raw));
  }

  /** Those it holds, as it came. */
  get bytes(): number {
    return this.raw?.body.length ?? 0;
  }

  get isWhole(): boolean {
    return this.raw !== undefined;
  }

  /** The broker still has it: from now on it can only be given back, to come again. */
  letGo(): void {
    delete this.raw;
  }

  get isOpened(): boolean {
    return this.#opened !== undefined;
  }

  acknowledge(): void {
    this.#channel.settle(this, 'acknowledge');
  }

  giveBack(): void {
    this.#channel.settle(this, 'give back');
  }
}

/** The tag is all that the library reads of a message. */
function messageOf(deliveryTag: number): AmqpMessage {
  return { fields: { deliveryTag } } as AmqpMessage;
}

/** One acknowledgement to send: of one message, or of all up to it that are not settled yet. */
export type Acknowledgement = { tag: number; isAllUpTo: boolean };

/**
 * What was settled on one channel, whose deliveries count 1, 2, 3, …. What is acknowledged in one go becomes as few
 * acknowledgements as possible: one for all, where no older message is still held. Each is a command to a quorum queue.
 */
export class Settlements {
  /** All below are settled. */
  #oldestHeld = 1;
  /** Settled beyond the oldest that is held. */
  readonly #ahead = new Set<number>();
  #unsent: number[] = [];

  acknowledge(tag: number): void {
    this.#settle(tag);
    this.#unsent.push(tag);
  }

  /** Told to the broker already: nothing is left to send for it. */
  giveBack(tag: number): void {
    this.#settle(tag);
  }

  /** What to send for all that was acknowledged since the last time. */
  take(): Acknowledgement[] {
    const unsent = this.#unsent;
    this.#unsent = [];
    const prefix = unsent.filter((tag) => tag < this.#oldestHeld);
    const others = unsent.filter((tag) => tag >= this.#oldestHeld);
    // The broker refuses a tag that it has seen settled: the last of them is new to it.
    const [last] = prefix.length === 0 ? [] : [prefix.reduce((a, b) => Math.max(a, b))];
    return [
      ...(last === undefined ? [] : [{ tag: last, isAllUpTo: prefix.length > 1 }]),
      ...others.map((tag) => ({ tag, isAllUpTo: false })),
    ];
  }

  #settle(tag: number): void {
    this.#ahead.add(tag);
    while (this.#ahead.delete(this.#oldestHeld)) this.#oldestHeld += 1;
  }
}
