import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Hold } from '../hold.ts';
import { floorOf, nextMoves } from '../prefetch-budget.ts';
import type { Held } from './held.ts';
import { QueueConsumer } from './queue-consumer.ts';

export type SharedHoldOptions = {
  queues: readonly string[];
  hold: Hold;
  onMessage: (held: Held) => void;
  log: Log;
  clock: Clock;
};

const REVIEW_MS = 200;
/** A queue that is full is not kept waiting for the next review: what it lacks would make its messages late. */
const HURRY_MS = 10;

/** The queues of a step, and one budget that moves between them while there is traffic. At rest no timer runs. */
export class SharedHold {
  readonly queues: readonly QueueConsumer[];
  readonly #hold: Hold;
  readonly #clock: Clock;
  #isReviewing = false;
  #isHurrying = false;

  constructor({ queues, hold, onMessage, log, clock }: SharedHoldOptions) {
    this.#hold = hold;
    this.#clock = clock;
    const floor = floorOf(hold.messages, queues.length);
    this.queues = queues.map((queue) => {
      const onTaken = (held: Held) => {
        if (!this.#isReviewing) this.#reviewLater();
        if (consumer.isFull && !this.#isHurrying) this.#growSoon();
        onMessage(held);
      };
      const consumer = new QueueConsumer({ queue, floor, limit: hold.messages, onMessage: onTaken, log, clock });
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
        this.#hold,
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
      for (const move of nextMoves(uses, this.#hold)) this.queues[move.index]?.apply(move);
      const isAtRest = uses.every(({ peak, grants, owed }) => peak === 0 && grants.length <= 1 && owed === 0);
      if (!isAtRest) this.#reviewLater();
    });
    timer.unref();
  }
}
