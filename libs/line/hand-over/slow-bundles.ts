import type { Clock } from '@waybell/runtime/clock';
import type { Message, Source } from '../messages.ts';
import type { Lane } from './suspicion.ts';

/** Messages in hand: their source, the lane it was taken from, and when. */
export type InHand = { source: Source; messages: readonly Message[]; lane: Lane; at: number };

/** Time after which the running members of a bundle are stored elsewhere; and the interval of the checks. */
const SLOW_MS = 1_500;
const LOOK_MS = 250;

export type SlowBundlesOptions = {
  inHand: ReadonlyMap<number, InHand>;
  clock: Clock;
  onSlow: (sources: ReadonlySet<number>) => void;
};

/** Reports bundles held for too long. No timer runs while no bundle is in hand. */
export class SlowBundles {
  readonly #options: SlowBundlesOptions;
  #isWatching = false;

  constructor(options: SlowBundlesOptions) {
    this.#options = options;
  }

  /** Starts the checks: a bundle is in hand. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#options.clock.after(LOOK_MS, () => this.#look()).unref();
  }

  #look(): void {
    const { inHand, clock, onSlow } = this.#options;
    this.#isWatching = false;
    const bundles = [...inHand].filter(([, { source }]) => source.messages.length > 1);
    if (bundles.length > 0) this.watch();
    const since = clock.now() - SLOW_MS;
    const sources = new Set(bundles.filter(([, { at }]) => at <= since).map(([id]) => id));
    if (sources.size > 0) onSlow(sources);
  }
}
