import type { Clock } from '@waybell/runtime/clock';
import type { Message, Source } from '../messages.ts';
import type { Lane } from './suspicion.ts';

/** Something in hand, as it is handled, where it was taken, and since when. */
export type InHand = { source: Source; messages: readonly Message[]; lane: Lane; at: number };

/** How long a bundle is held before what is still at work in it is kept somewhere else; and how often that is looked at. */
const SLOW_MS = 1_500;
const LOOK_MS = 250;

export type SlowBundlesOptions = {
  /** Messages in hand, by source. */
  inHand: ReadonlyMap<number, InHand>;
  clock: Clock;
  onSlow: (sources: ReadonlySet<number>) => void;
};

/** Tells of bundles that have been in hand for long, while there are bundles in hand. */
export class SlowBundles {
  readonly #options: SlowBundlesOptions;
  #isWatching = false;

  constructor(options: SlowBundlesOptions) {
    this.#options = options;
  }

  /** There is one in hand. */
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
