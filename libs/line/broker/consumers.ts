import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { ChannelModel } from 'amqplib';
import type { Log } from '@waybell/runtime/log';
import type { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { Broker, ConsumeCallbacks } from '../broker.ts';
import { depthOf } from './depth.ts';
import { CLOSE_LIMIT_MS } from './broker-connection.ts';
import { keepConnected } from './keep-connected.ts';
import type { ConsumedMessage } from './consumed-channel.ts';
import { floorOf, nextMoves, type InHandLimit } from '../prefetch-budget.ts';
import { QueueConsumer } from './queue-consumer.ts';
import { ReceiveBuffer } from './receive-buffer.ts';

export type Consumers = AsyncDisposable &
  Pick<Broker, 'consume' | 'depth'> & {
    isConnected(): boolean;
    /** Lists queues that should be consumed and are not at the moment. */
    waitingFor(): string[];
    /** Lists queues that are consumed at the moment. */
    consumed(): string[];
  };

export type ConsumersOptions = ServerAddress & {
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
        inHand: () => heldBy(consumed),
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

async function pauseAll(queues: readonly QueueConsumer[], reason: string): Promise<void> {
  await Promise.all(queues.map((queue) => queue.pause(reason)));
}

function heldBy(queues: readonly QueueConsumer[]): number {
  return queues.reduce((sum, { held }) => sum + held, 0);
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
