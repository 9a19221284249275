import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Source } from '../messages.ts';
import { floorOf, nextMoves, type HeldLimit } from '../prefetch-budget.ts';
import { QueueConsumer, type Consuming } from './queue-consumer.ts';

export type QueueGroupOptions = Consuming & {
  queues: readonly string[];
  limit: HeldLimit;
  log: Log;
  clock: Clock;
};

const REVIEW_MS = 200;
/** A queue that is full is not kept waiting for the next review: what it lacks would make its messages late. */
const HURRY_MS = 10;

/** The queues of a step, and one budget that moves between them while there is traffic. At rest no timer runs. */
export class QueueGroup {
  readonly queues: readonly QueueConsumer[];
  readonly #limit: HeldLimit;
  readonly #clock: Clock;
  #isReviewing = false;
  #isHurrying = false;

  constructor({ queues, limit, onTaken, onCut, log, clock }: QueueGroupOptions) {
    this.#limit = limit;
    this.#clock = clock;
    const floor = floorOf(limit.messages, queues.length);
    this.queues = queues.map((queue) => {
      const taken = (source: Source) => {
        if (!this.#isReviewing) this.#reviewLater();
        if (consumer.isFull && !this.#isHurrying) this.#growSoon();
        onTaken(source);
      };
      const consumer = new QueueConsumer({ queue, floor, limit: limit.messages, onTaken: taken, onCut, log, clock });
      return consumer;
    });
  }

  /** Only grows: what a queue can spare shows over a longer while. */
  #growSoon(): void {
    this.#isHurrying = true;
    const timer = this.#clock.after(HURRY_MS, () => {
      this.#isHurrying = false;
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
      const isAtRest = uses.every(({ peak, grants, owed }) => peak === 0 && grants.length <= 1 && owed === 0);
      if (!isAtRest) this.#reviewLater();
    });
    timer.unref();
  }
}
