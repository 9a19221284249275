/**
 * One channel that consumes one queue: `ConsumedMessage` is what it delivers, `Settlements` merges acknowledgements, `Prefetches`
 * counts how much the broker may send, and how that is used.
 */
import type { Channel, ConsumeMessage, Message as AmqpMessage } from 'amqplib';
import { countMembers, openBatch } from '../delivery-batch.ts';
import { type Message, newSourceId, type Source } from '../messages.ts';
import type { QueueUse } from '../prefetch-budget.ts';
import { readMessage } from './amqp-message.ts';

/** Returns the memory that a message takes once it is parsed, in bytes. */
export type Weigh = (message: Message) => number;

type ConsumedChannelOptions = {
  queue: string;
  prefetches: Prefetches;
  onSettled: (source: ConsumedMessage) => void;
  weigh?: Weigh | undefined;
};

const bytesOf: Weigh = ({ body }) => body.length;

/** One channel that consumes one queue. It settles each message at most once. */
export class ConsumedChannel {
  readonly channel: Channel;
  readonly prefetches: Prefetches;
  readonly #queue: string;
  readonly #onSettled: (source: ConsumedMessage) => void;
  readonly #weigh: Weigh;
  readonly #settlements = new Settlements();
  readonly #inHand = new Set<ConsumedMessage>();
  #isOpen = true;
  #isSending = false;

  constructor(channel: Channel, { queue, prefetches, onSettled, weigh = bytesOf }: ConsumedChannelOptions) {
    this.#weigh = weigh;
    this.channel = channel;
    this.#queue = queue;
    this.#onSettled = onSettled;
    this.prefetches = prefetches;
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
    });
    this.#inHand.add(taken);
    return taken;
  }

  /** Marks the channel as closed and returns what was in hand on it: the broker has requeued them. */
  lose(): Iterable<ConsumedMessage> {
    this.#isOpen = false;
    return this.#inHand;
  }

  settle(taken: ConsumedMessage, how: 'acknowledge' | 'give back'): void {
    // A delivery tag of a closed channel would close the next channel too.
    if (!this.#isOpen || !this.#inHand.delete(taken)) return;
    this.prefetches.settled(taken.prefetch);
    if (how === 'acknowledge') this.#acknowledge(taken.tag);
    else this.#giveBack(taken.tag);
    this.#onSettled(taken);
  }

  /** Sends the acknowledgements of this tick now. */
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
    // `reject`, not `nack`: since RabbitMQ 4.3 a nack does not raise `x-delivery-count`.
    this.#try(() => this.channel.reject(messageOf(tag), true));
  }

  /** Ignores the error of a closed channel: the broker has requeued the message. */
  #try(settle: () => void): void {
    try {
      settle();
    } catch {
      // The channel has just closed.
    }
  }
}

/** The library reads only the tag of a message. */
function messageOf(deliveryTag: number): AmqpMessage {
  return { fields: { deliveryTag } } as AmqpMessage;
}

type ConsumedMessageOptions = {
  channel: ConsumedChannel;
  tag: number;
  prefetch: Prefetch;
  weigh: Weigh;
};

/** One AMQP message. If it is a batch of deliveries, reading `messages` opens it. */
export class ConsumedMessage implements Source {
  readonly id = newSourceId();
  /** Number of messages in it: the members of a batch, else 1. */
  readonly count: number;
  readonly tag: number;
  readonly prefetch: Prefetch;
  /** Memory that it takes once it is parsed, in bytes. */
  readonly weight: number;
  raw?: Message;
  readonly #channel: ConsumedChannel;

  constructor(message: Message, { channel, tag, prefetch, weigh }: ConsumedMessageOptions) {
    this.count = countMembers(message);
    this.weight = weigh(message);
    this.tag = tag;
    this.prefetch = prefetch;
    this.raw = message;
    this.#channel = channel;
  }

  get messages(): readonly Message[] {
    if (this.raw === undefined) throw new Error('it was let go of, and can only be given back');
    return openBatch(this.raw);
  }

  /** Size of the body in bytes; 0 once it was dropped. */
  get bytes(): number {
    return this.raw?.body.length ?? 0;
  }

  get isWhole(): boolean {
    return this.raw !== undefined;
  }

  /** Drops the body to free memory. The message can then only be given back, and is redelivered. */
  letGo(): void {
    delete this.raw;
  }

  acknowledge(): void {
    this.#channel.settle(this, 'acknowledge');
  }

  giveBack(): void {
    this.#channel.settle(this, 'give back');
  }
}

/** One acknowledgement: of one message, or of all unsettled ones up to it (AMQP's `multiple`). */
type Acknowledgement = { tag: number; isAllUpTo: boolean };

/**
 * Tracks settled delivery tags of one channel and merges acknowledgements: one for all messages of a tick if no older
 * message is still in hand. Each acknowledgement is a command to the quorum queue.
 */
export class Settlements {
  /** All tags below it are settled. */
  #oldestUnsettled = 1;
  /** Settled tags above `#oldestHeld`. */
  readonly #ahead = new Set<number>();
  #unsent: number[] = [];

  acknowledge(tag: number): void {
    this.#settle(tag);
    this.#unsent.push(tag);
  }

  /** The caller has already sent the reject. */
  giveBack(tag: number): void {
    this.#settle(tag);
  }

  /** Returns the acknowledgements to send for everything acknowledged since the last call. */
  take(): Acknowledgement[] {
    const unsent = this.#unsent;
    this.#unsent = [];
    const prefix = unsent.filter((tag) => tag < this.#oldestUnsettled);
    const others = unsent.filter((tag) => tag >= this.#oldestUnsettled);
    // The broker refuses a tag that is settled already; the largest of these is not.
    const [last] = prefix.length === 0 ? [] : [prefix.reduce((a, b) => Math.max(a, b))];
    return [
      ...(last === undefined ? [] : [{ tag: last, isAllUpTo: prefix.length > 1 }]),
      ...others.map((tag) => ({ tag, isAllUpTo: false })),
    ];
  }

  #settle(tag: number): void {
    this.#ahead.add(tag);
    while (this.#ahead.delete(this.#oldestUnsettled)) this.#oldestUnsettled += 1;
  }
}

/** A consumer and its prefetch count: how many unsettled messages the broker may send it. */
export type Prefetch = {
  size: number;
  /** False once it is to be cancelled. */
  isWanted: boolean;
  /** Whether its consumer exists, or is being opened. */
  isOpen: boolean;
  /** The consumer tag, once the broker has answered. */
  tag?: string;
  inHand: number;
  /** Whether it is cancelled even if messages are on their way to it. */
  isOverdue: boolean;
};

/** Weight of the newest message in the mean size. */
const WEIGHT = 1 / 16;
const PEAK_DECAY = 0.9;

/** The prefetches of one queue on one channel, and how they are used. Only counts: `QueueConsumer` opens and cancels consumers. */
export class Prefetches {
  #all: Prefetch[] = [];
  #wantedSize = 0;
  #wantedInHand = 0;
  #peak = 0;
  #wasFull = false;
  #meanBytes = 0;

  grow(size: number): void {
    this.#all.push({ size, isWanted: true, isOpen: false, inHand: 0, isOverdue: false });
    this.#wantedSize += size;
  }

  shrink(): void {
    this.#giveUp(this.#all.findLast(({ isWanted }) => isWanted));
  }

  giveUpAll(): void {
    for (const prefetch of this.#all) {
      this.#giveUp(prefetch);
      prefetch.isOverdue = true;
    }
  }

  /** Returns a wanted one to open, or an unwanted one to cancel; undefined if there is nothing to do now. */
  next(): Prefetch | undefined {
    return this.#all.find((prefetch) => (prefetch.isWanted ? !prefetch.isOpen : prefetch.isOpen && mayGo(prefetch)));
  }

  get isConsuming(): boolean {
    return this.#all.some(({ isWanted, tag }) => isWanted && tag !== undefined);
  }

  /** Notes that its consumer is cancelled. */
  cancelled(prefetch: Prefetch): void {
    prefetch.isOpen = false;
    this.#dropSettled();
  }

  taken(prefetch: Prefetch, bytes: number): void {
    prefetch.inHand += 1;
    this.#meanBytes = this.#meanBytes === 0 ? bytes : this.#meanBytes + (bytes - this.#meanBytes) * WEIGHT;
    if (!prefetch.isWanted) return;
    this.#wantedInHand += 1;
    this.#notice();
  }

  settled(prefetch: Prefetch): void {
    prefetch.inHand -= 1;
    if (prefetch.isWanted) this.#wantedInHand -= 1;
    else this.#dropSettled();
  }

  /** Whether every prefetch is used up at this moment. */
  get isFull(): boolean {
    return this.#wantedSize > 0 && this.#wantedInHand >= this.#wantedSize;
  }

  /** Sum of the prefetches that are wanted. */
  get granted(): number {
    return this.#wantedSize;
  }

  get inHand(): number {
    return this.#all.reduce((sum, { inHand }) => sum + inHand, 0);
  }

  /** Returns the use at this moment. */
  use(): QueueUse {
    return {
      prefetches: this.#all.filter(({ isWanted }) => isWanted).map(({ size }) => size),
      outstanding: this.#all.reduce(
        (outstanding, { isWanted, isOpen, size, inHand }) => outstanding + (isWanted ? 0 : isOpen ? size : inHand),
        0,
      ),
      peak: this.#peak,
      wasFull: this.isFull,
      meanBytes: this.#meanBytes,
    };
  }

  /** Returns the use since the last review, and starts the next period. */
  review(): QueueUse {
    const use = { ...this.use(), wasFull: this.#wasFull };
    this.#peak = Math.floor(this.#peak * PEAK_DECAY);
    this.#wasFull = false;
    this.#notice();
    for (const prefetch of this.#all) prefetch.isOverdue ||= !prefetch.isWanted;
    return use;
  }

  #notice(): void {
    this.#peak = Math.max(this.#peak, this.#wantedInHand);
    this.#wasFull ||= this.isFull;
  }

  #giveUp(prefetch: Prefetch | undefined): void {
    if (prefetch?.isWanted !== true) return;
    prefetch.isWanted = false;
    this.#wantedSize -= prefetch.size;
    this.#wantedInHand -= prefetch.inHand;
    this.#dropSettled();
  }

  #dropSettled(): void {
    this.#all = this.#all.filter(({ isWanted, isOpen, inHand }) => isWanted || isOpen || inHand > 0);
  }
}

/** Messages on their way to a cancelled consumer count as returned. To a full consumer none is on its way. */
function mayGo({ isOverdue, inHand, size }: Prefetch): boolean {
  return isOverdue || inHand === size;
}
