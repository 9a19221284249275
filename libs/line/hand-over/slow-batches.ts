import type { Clock } from '@waybell/runtime/clock';
import type { Message, Source } from '../messages.ts';
import type { Lane } from './suspicion.ts';

/**
 * A source in hand: the lane it was taken from, when, and how many messages it has. `traced`: its messages, only if spans are
 * recorded; each is in memory until it has left, and not for as long as its neighbours.
 */
export type InHand = { source: Source; size: number; traced?: readonly Message[]; lane: Lane; at: number };

/** Time after which the running members of a batch are stored elsewhere; and the interval of the checks. */
const SLOW_MS = 1_500;
const LOOK_MS = 250;

export type SlowBatchesOptions = {
  inHand: ReadonlyMap<number, InHand>;
  clock: Clock;
  onSlow: (sources: ReadonlySet<number>) => void;
};

/** Reports batches held for too long. No timer runs while no batch is in hand. */
export class SlowBatches {
  readonly #options: SlowBatchesOptions;
  #isWatching = false;

  constructor(options: SlowBatchesOptions) {
    this.#options = options;
  }

  /** Starts the checks: a batch is in hand. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#options.clock.after(LOOK_MS, () => this.#look()).unref();
  }

  #look(): void {
    const { inHand, clock, onSlow } = this.#options;
    this.#isWatching = false;
    const since = clock.now() - SLOW_MS;
    const slow = new Set<number>();
    let isAny = false;
    for (const { source, size, at } of inHand.values()) {
      if (size <= 1) continue;
      isAny = true;
      if (at <= since) slow.add(source.id);
    }
    if (isAny) this.watch();
    if (slow.size > 0) onSlow(slow);
  }
}
