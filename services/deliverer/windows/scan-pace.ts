import type { Clock, Timer } from '@waybell/runtime/clock';

export type ScanLimits = {
  /** Turns in vain, at most. */
  perSecond: number;
  /** Turns under way at once, and in vain in a row before the pace slackens. */
  burst: number;
  /** What the pace slackens to. */
  slowestPerSecond: number;
};

/** What a turn came to: the delivery left the lane, or it went back to its end. */
export type TurnEnd = 'fruitful' | 'vain';

/**
 * How fast a waiting lane is looked through. Only turns in vain cost something: in any time T there are at most
 * `burst + perSecond × T` of them. While all are in vain the pace halves again and again; a turn that frees something,
 * or a word that there is room, restores it.
 */
export class ScanPace {
  readonly #clock: Clock;
  readonly #limits: ScanLimits;
  readonly #waiting: ((goOn: boolean) => void)[] = [];
  #turns: number;
  #countedAt: number;
  #vainInRow = 0;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(clock: Clock, limits: ScanLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#turns = limits.burst;
    this.#countedAt = clock.now();
  }

  /** Resolves with true when it is time to look at one delivery; with false when nobody is to look any more. */
  turn(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  ended(end: TurnEnd): void {
    this.#count();
    if (end === 'vain') {
      this.#vainInRow += 1;
      return;
    }
    this.#turns = Math.min(this.#turns + 1, this.#limits.burst);
    this.#vainInRow = 0;
    this.#serve();
  }

  /** Somebody who waits here may have room now. */
  wake(): void {
    this.#count();
    this.#vainInRow = 0;
    this.#serve();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }

  #serve(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#count();
    while (this.#turns >= 1 && this.#waiting.length > 0) {
      this.#turns -= 1;
      this.#waiting.shift()?.(true);
    }
    if (this.#waiting.length === 0) return;
    const delayMs = Math.ceil((1 - this.#turns) / this.#perMs);
    this.#timer = this.#clock.after(delayMs, () => this.#serve());
  }

  #count(): void {
    const now = this.#clock.now();
    this.#turns = Math.min(this.#turns + (now - this.#countedAt) * this.#perMs, this.#limits.burst);
    this.#countedAt = now;
  }

  get #perMs(): number {
    const { perSecond, slowestPerSecond, burst } = this.#limits;
    const halvings = Math.floor(this.#vainInRow / burst);
    return Math.max(perSecond / 2 ** halvings, slowestPerSecond) / 1_000;
  }
}
