/**
 * Consumes queues on a connection of its own. `QueueGroup` shares one prefetch budget among the queues of a step, `ReceiveBuffer`
 * limits what they have opened at once; `queue-consumer.ts` consumes a single queue.
 */
import type { ChannelModel } from 'amqplib';
import { type Clock, systemClock, withTimeout } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Broker, ConsumeCallbacks } from '../broker.ts';
import { floorOf, type InHandLimit, nextMoves } from '../prefetch-budget.ts';
import { CLOSE_LIMIT_MS, keepConnected, depthOf } from './broker-connection.ts';
import type { ConsumedMessage } from './consumed-channel.ts';
import { QueueConsumer } from './queue-consumer.ts';

type Consumers = AsyncDisposable &
  Pick<Broker, 'consume' | 'depth'> & {
    isConnected(): boolean;
    /** Lists queues that should be consumed and are not at the moment. */
    waitingFor(): string[];
    /** Lists queues that are consumed at the moment. */
    consumed(): string[];
  };

type ConsumersOptions = ServerAddress & {
  login?: Login;
  name: string;
  heartbeatSeconds: number;
  log: Log;
  clock: Clock;
  /** Limit for flushing the last acknowledgements, and again for the close handshake. */
  closeLimitMs?: number;
  /** Runs at each connect, for other requests on this connection: it publishes nothing, so no alarm blocks it. */
  onConnected?: (connection: ChannelModel) => void;
  onDisconnected?: () => void;
};

/**
 * Opens one connection to consume by, with a channel for each queue: an error of one queue (deleted, refused, an acknowledgement
 * too late) closes its channel and no other.
 */
export async function openConsumers(options: ConsumersOptions): Promise<Consumers> {
  const { clock, log, closeLimitMs = CLOSE_LIMIT_MS, onConnected, onDisconnected } = options;
  const all: QueueConsumer[] = [];
  let connection: ChannelModel | undefined;
  const reconnecting = keepConnected({
    ...options,
    name: `${options.name} consume`,
    onOpen: async (opened) => {
      connection = opened;
      for (const queue of all) queue.connected(opened);
      onConnected?.(opened);
    },
    onDown: () => {
      connection = undefined;
      for (const queue of all) queue.disconnected();
      onDisconnected?.();
    },
  });
  return {
    consume(queues, limit, consuming) {
      const group = new QueueGroup({ queues, limit, ...consuming, log, clock });
      const consumed = group.queues;
      all.push(...consumed);
      if (connection !== undefined) for (const queue of consumed) queue.connected(connection);
      return {
        pause: (reason) => group.pause(reason),
        resume: (reason) => group.resume(reason),
        inHand: () => inHandOf(consumed),
      };
    },
    async depth(queues) {
      if (connection === undefined) throw new Error('the broker is away');
      return depthOf(connection, queues);
    },
    isConnected: () => connection !== undefined,
    consumed: () => all.filter((queue) => queue.isConsuming).map(({ queue }) => queue),
    waitingFor: () => all.filter((queue) => queue.isWaiting()).map(({ queue }) => queue),
    async [Symbol.asyncDispose]() {
      await withTimeout({ clock: systemClock, limitMs: closeLimitMs }, Promise.all(all.map((queue) => queue.close())));
      await reconnecting[Symbol.asyncDispose]();
    },
  };
}

type QueueGroupOptions = ConsumeCallbacks & {
  queues: readonly string[];
  limit: InHandLimit;
  log: Log;
  clock: Clock;
};

const REVIEW_MS = 200;
/**
 * A queue that uses up its prefetch is reviewed after this time, before the next regular review, so that its messages are not
 * late.
 */
const HURRY_MS = 10;

/** The queues of a step, with one prefetch budget that follows the traffic. No timer runs at rest. */
class QueueGroup {
  readonly queues: readonly QueueConsumer[];
  readonly #limit: InHandLimit;
  readonly #clock: Clock;
  readonly #buffer: ReceiveBuffer;
  #isReviewing = false;
  #isHurrying = false;

  constructor({ queues, limit, onTaken, onCut, log, clock }: QueueGroupOptions) {
    this.#limit = limit;
    this.#clock = clock;
    const floor = floorOf(limit.messages, queues.length);
    this.#buffer = new ReceiveBuffer({ limit, onTaken, onCut });
    this.queues = queues.map((queue) => {
      const taken = (source: ConsumedMessage) => {
        if (!this.#isReviewing) this.#reviewLater();
        if (consumer.isFull && !this.#isHurrying) this.#growSoon();
        this.#buffer.take(source);
      };
      const { settled, cut } = this.#buffer;
      const consuming = { onTaken: taken, onSettled: settled, onCut: cut };
      const consumer = new QueueConsumer({
        queue,
        floor,
        limit: limit.messages,
        weigh: limit.weigh,
        ...consuming,
        log,
        clock,
      });
      return consumer;
    });
  }

  async pause(reason: string): Promise<void> {
    await pauseAll(this.queues, reason);
    this.#buffer.giveBackAll();
  }

  resume(reason: string): void {
    for (const queue of this.queues) queue.resume(reason);
  }

  get #mayGrow(): boolean {
    let granted = 0;
    for (const queue of this.queues) granted += queue.granted;
    return granted < this.#limit.messages;
  }

  /** Only grows: whether a queue can do with less shows at a full review. */
  #growSoon(): void {
    this.#isHurrying = true;
    const timer = this.#clock.after(HURRY_MS, () => {
      this.#isHurrying = false;
      if (!this.#mayGrow) return;
      const moves = nextMoves(
        this.queues.map((queue) => queue.use()),
        this.#limit,
      );
      for (const move of moves) if (move.kind === 'grow') this.queues[move.index]?.apply(move);
    });
    timer.unref();
  }

  #reviewLater(): void {
    this.#isReviewing = true;
    const timer = this.#clock.after(REVIEW_MS, () => {
      this.#isReviewing = false;
      const uses = this.queues.map((queue) => queue.review());
      for (const move of nextMoves(uses, this.#limit)) this.queues[move.index]?.apply(move);
      const isAtRest = uses.every(
        ({ peak, prefetches, outstanding }) => peak === 0 && prefetches.length <= 1 && outstanding === 0,
      );
      if (!isAtRest) this.#reviewLater();
    });
    timer.unref();
  }
}

type ReceiveBufferOptions = ConsumeCallbacks & {
  /** Limit of opened messages over all queues, in messages (members of batches) and bytes, until their AMQP message is settled. */
  limit: InHandLimit;
};

/** Limit of the bodies that wait. Beyond it a body is dropped, and its message given back and received again once it may be opened. */
const MOST_BUFFERED_BYTES = 2 ** 23;

/** Messages above this size are large. Together they may use only a part of the bytes, so that small messages can pass them. */
const LARGE_BYTES = 2 ** 16;
const LARGE_PART = 3 / 4;

/**
 * Buffers received messages, unopened and in order, while the limit of opened ones is reached. A prefetch counts messages only: their
 * size is not known before they arrive.
 */
export class ReceiveBuffer {
  readonly #options: ReceiveBufferOptions;
  readonly #buffered = new Set<ConsumedMessage>();
  #bufferedBytes = 0;
  #open = 0;
  #bytes = 0;
  #largeBytes = 0;

  constructor(options: ReceiveBufferOptions) {
    this.#options = options;
  }

  take(source: ConsumedMessage): void {
    // If nothing is opened, no settlement would trigger handing this one on.
    const isNext = this.#buffered.size === 0 || this.#open === 0;
    if (isNext && this.#hasCapacity(source)) this.#hand(source);
    else this.#buffer(source);
  }

  readonly settled = (source: ConsumedMessage): void => {
    this.#left(source);
  };

  readonly cut = (source: ConsumedMessage): void => {
    // `onCut` has already run for a message whose body was dropped.
    const isKnown = !source.isWhole;
    this.#left(source);
    if (!isKnown) this.#options.onCut(source);
  };

  giveBackAll(): void {
    for (const source of this.#buffered) {
      if (source.isWhole) this.#options.onCut(source);
      source.giveBack();
    }
  }

  #buffer(source: ConsumedMessage): void {
    this.#buffered.add(source);
    if (this.#bufferedBytes + source.bytes > MOST_BUFFERED_BYTES) {
      // Runs while the body is still there: its identity is needed, so that its return counts as no crash.
      this.#options.onCut(source);
      source.letGo();
    }
    this.#bufferedBytes += source.bytes;
  }

  #left(source: ConsumedMessage): void {
    if (this.#removeBuffered(source)) return;
    this.#count(source, -1);
    this.#handOn();
  }

  #removeBuffered(source: ConsumedMessage): boolean {
    const hasWaited = this.#buffered.delete(source);
    if (hasWaited) this.#bufferedBytes -= source.bytes;
    return hasWaited;
  }

  #handOn(): void {
    /** Bytes reserved for messages that were given back to be received again. */
    let reserved = 0;
    for (const next of this.#buffered) {
      if (!this.#hasCapacity(next, reserved)) {
        if (isLarge(next)) continue;
        break;
      }
      if (next.isWhole) {
        this.#removeBuffered(next);
        this.#hand(next);
      } else {
        reserved += next.weight;
        next.giveBack();
      }
    }
  }

  #hand(source: ConsumedMessage): void {
    this.#count(source, 1);
    this.#options.onTaken(source);
  }

  #count({ count, weight }: ConsumedMessage, by: 1 | -1): void {
    this.#open += by * count;
    this.#bytes += by * weight;
    if (weight > LARGE_BYTES) this.#largeBytes += by * weight;
  }

  /** A single message may exceed the limit: it could never be opened otherwise. */
  #hasCapacity(source: ConsumedMessage, reserved = 0): boolean {
    const { count, weight } = source;
    const { messages, bytes } = this.#options.limit;
    if (this.#open > 0 && this.#open + count > messages) return false;
    const ofLarge = bytes * LARGE_PART;
    const small = this.#bytes - this.#largeBytes;
    const large = this.#largeBytes + reserved;
    if (isLarge(source)) return large === 0 || large + weight <= ofLarge;
    return small === 0 || small + Math.min(large, ofLarge) + weight <= bytes;
  }
}

function isLarge({ weight }: ConsumedMessage): boolean {
  return weight > LARGE_BYTES;
}

async function pauseAll(queues: readonly QueueConsumer[], reason: string): Promise<void> {
  await Promise.all(queues.map((queue) => queue.pause(reason)));
}

function inHandOf(queues: readonly QueueConsumer[]): number {
  return queues.reduce((sum, { inHand }) => sum + inHand, 0);
}
