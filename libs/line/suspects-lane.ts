import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Broker, ConsumeCallbacks, Consumer } from './broker.ts';
import { suspectsQueue } from './topology.ts';

export type SuspectsLaneOptions = ConsumeCallbacks & { step: string; clock: Clock; afterStartMs?: number };

/** A message that crashes its process is redelivered to the next process, and crashes it within this time. */
const AFTER_START_MS = 5_000;
/** After this pause, so that no consumer is opened and cancelled for each of many redelivered messages. */
const REST_MS = 200;
const MAY_BE_BLAMED = 'what came again may kill';

/**
 * Takes suspects one at a time, and only while nothing else is likely to crash the process, so that a crash is counted against
 * the right message: none for a while after the start of the process, and none while a redelivered message from elsewhere is in
 * hand.
 */
export class SuspectsLane {
  readonly consumer: Consumer;
  readonly #clock: Clock;
  readonly #opensAt: number;
  #opening: Timer | undefined;
  #isClosed = false;

  constructor(broker: Pick<Broker, 'consume'>, options: SuspectsLaneOptions) {
    const { step, clock, afterStartMs = AFTER_START_MS, ...consuming } = options;
    this.#clock = clock;
    this.#opensAt = clock.now() + afterStartMs;
    this.consumer = broker.consume([suspectsQueue(step)], ONE_AT_A_TIME, consuming);
    this.pause();
    this.resume();
  }

  /** A redelivered message is in hand. */
  pause(): void {
    this.#opening?.[Symbol.dispose]();
    void this.consumer.pause(MAY_BE_BLAMED);
  }

  /** No redelivered message is in hand any more. */
  resume(): void {
    const afterMs = Math.max(REST_MS, this.#opensAt - this.#clock.now());
    if (!this.#isClosed) this.#opening = this.#clock.after(afterMs, () => this.consumer.resume(MAY_BE_BLAMED));
  }

  /** Takes no more suspects. */
  close(): void {
    this.#isClosed = true;
    this.pause();
  }
}

const ONE_AT_A_TIME = { messages: 1, bytes: Number.MAX_SAFE_INTEGER };
