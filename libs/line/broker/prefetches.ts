import type { QueueUse } from '../prefetch-budget.ts';

/** A consumer and its prefetch count: how many unsettled messages the broker may send it. */
export type Prefetch = {
  size: number;
  /** False once it is to be cancelled. */
  isWanted: boolean;
  /** Whether its consumer exists, or is being opened. */
  isOpen: boolean;
  /** The consumer tag, once the broker has answered. */
  tag?: string;
  held: number;
  /** Whether it is cancelled even if messages are on their way to it. */
  isOverdue: boolean;
};

/** Weight of the newest message in the mean size. */
const WEIGHT = 1 / 16;
const PEAK_DECAY = 0.9;

/** Messages on their way to a cancelled consumer count as returned. To a full consumer none is on its way. */
function mayGo({ isOverdue, held, size }: Prefetch): boolean {
  return isOverdue || held === size;
}

/** The prefetches of one queue on one channel, and how they are used. Only counts: `QueueConsumer` opens and cancels consumers. */
export class Prefetches {
  #all: Prefetch[] = [];
  #wantedSize = 0;
  #wantedHeld = 0;
  #peak = 0;
  #wasFull = false;
  #meanBytes = 0;

  grow(size: number): void {
    this.#all.push({ size, isWanted: true, isOpen: false, held: 0, isOverdue: false });
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
    prefetch.held += 1;
    this.#meanBytes = this.#meanBytes === 0 ? bytes : this.#meanBytes + (bytes - this.#meanBytes) * WEIGHT;
    if (!prefetch.isWanted) return;
    this.#wantedHeld += 1;
    this.#notice();
  }

  settled(prefetch: Prefetch): void {
    prefetch.held -= 1;
    if (prefetch.isWanted) this.#wantedHeld -= 1;
    else this.#dropSettled();
  }

  /** Whether every prefetch is used up at this moment. */
  get isFull(): boolean {
    return this.#wantedSize > 0 && this.#wantedHeld >= this.#wantedSize;
  }

  /** Sum of the prefetches that are wanted. */
  get granted(): number {
    return this.#wantedSize;
  }

  get held(): number {
    return this.#all.reduce((held, prefetch) => held + prefetch.held, 0);
  }

  /** Returns the use at this moment. */
  use(): QueueUse {
    return {
      prefetches: this.#all.filter(({ isWanted }) => isWanted).map(({ size }) => size),
      outstanding: this.#all.reduce(
        (outstanding, { isWanted, isOpen, size, held }) => outstanding + (isWanted ? 0 : isOpen ? size : held),
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
    this.#peak = Math.max(this.#peak, this.#wantedHeld);
    this.#wasFull ||= this.isFull;
  }

  #giveUp(prefetch: Prefetch | undefined): void {
    if (prefetch?.isWanted !== true) return;
    prefetch.isWanted = false;
    this.#wantedSize -= prefetch.size;
    this.#wantedHeld -= prefetch.held;
    this.#dropSettled();
  }

  #dropSettled(): void {
    this.#all = this.#all.filter(({ isWanted, isOpen, held }) => isWanted || isOpen || held > 0);
  }
}
