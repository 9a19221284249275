import type { QueueUse } from '../prefetch-budget.ts';

/** Leave for the broker to send so many messages before the first of them is settled: a consumer with that prefetch. */
export type Prefetch = {
  size: number;
  isWanted: boolean;
  /** Whether the broker may send for it. */
  isOpen: boolean;
  /** The consumer's, once the broker has answered. */
  tag?: string;
  held: number;
  /** Whether it is to go even with messages on their way to us. */
  isOverdue: boolean;
};

/** What one more message counts for in the mean size. */
const WEIGHT = 1 / 16;
const PEAK_DECAY = 0.9;

/** The broker counts as given back what is on its way to a consumer that goes. To one that is full, nothing is. */
function mayGo({ isOverdue, held, size }: Prefetch): boolean {
  return isOverdue || held === size;
}

/** What one queue is granted on one channel, and what it makes of it. It counts; `QueueConsumer` opens and cancels. */
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

  /** What to open, wanted, or to cancel, unwanted. Nothing: all is as it should be, or will be soon. */
  next(): Prefetch | undefined {
    return this.#all.find((prefetch) => (prefetch.isWanted ? !prefetch.isOpen : prefetch.isOpen && mayGo(prefetch)));
  }

  get isConsuming(): boolean {
    return this.#all.some(({ isWanted, tag }) => isWanted && tag !== undefined);
  }

  /** The broker sends nothing more for it. */
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

  /** Whether all that is granted is held at this moment. */
  get isFull(): boolean {
    return this.#wantedSize > 0 && this.#wantedHeld >= this.#wantedSize;
  }

  get held(): number {
    return this.#all.reduce((held, prefetch) => held + prefetch.held, 0);
  }

  /** How it is used at this moment. */
  use(): QueueUse {
    return {
      prefetches: this.#all.filter(({ isWanted }) => isWanted).map(({ size }) => size),
      owed: this.#all.reduce(
        (owed, { isWanted, isOpen, size, held }) => owed + (isWanted ? 0 : isOpen ? size : held),
        0,
      ),
      peak: this.#peak,
      wasFull: this.isFull,
      meanBytes: this.#meanBytes,
    };
  }

  /** How it was used since the last review. */
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
