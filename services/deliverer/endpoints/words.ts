import type { Clock, Timer } from '@waybell/runtime/clock';
import type { KnownEndpoint } from './known-endpoint.ts';
import { Lines } from './line.ts';
import { TRUSTS, type Slots, type Trust } from './slots.ts';

export type WordsOptions = {
  clock: Clock;
  slots: Slots;
  onRoom: (endpoint: string) => void;
  /** Places may be free of which no owner that was told made use. */
  onUnused: () => void;
};

/** An owner that is told has so long to come before others are told of the same place. */
const PAUSE_MS = 50;
/** Told so many at least in that time, where it does not matter which comes first. */
const LEAST_TOLD = 16;

/** Says that there is room to those that have their deliveries parked: in turn, and to no more at once than there are places. */
export class Words {
  readonly #options: WordsOptions;
  readonly #lines = new Lines();
  /** Told in this pause. */
  #told: Record<Trust, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  #saying: string[] = [];
  #pause: Timer | undefined;

  constructor(options: WordsOptions) {
    this.#options = options;
  }

  stand(endpoint: KnownEndpoint): void {
    this.#lines.stand(endpoint, this.#options.clock.now());
  }

  /** A probe of this endpoint would overtake none that waits for its word. */
  isInTurn(endpoint: KnownEndpoint): boolean {
    return endpoint.isCalled || this.#lines.next(this.#options.slots, 'hung') === undefined;
  }

  /** Tells of places that are free. */
  say(): void {
    const { slots } = this.#options;
    for (const trust of TRUSTS) {
      const most = Math.max(slots.free(trust), trust === 'hung' ? 0 : LEAST_TOLD);
      while (this.#told[trust] < most) {
        const endpoint = this.#lines.next(slots, trust);
        if (endpoint === undefined) break;
        this.#told[trust] += 1;
        endpoint.line?.turn(endpoint);
        endpoint.line = undefined;
        this.tell(endpoint);
        this.#startPause();
      }
    }
  }

  tell(endpoint: KnownEndpoint): void {
    endpoint.isOwedWord = false;
    endpoint.isCalled = true;
    // Later: an owner that is told may ask at once.
    if (this.#saying.push(endpoint.name) === 1) queueMicrotask(() => this.#sayAll());
  }

  #sayAll(): void {
    for (const name of this.#saying.splice(0)) this.#options.onRoom(name);
  }

  #startPause(): void {
    if (this.#pause !== undefined) return;
    this.#pause = this.#options.clock.after(PAUSE_MS, () => {
      this.#pause = undefined;
      this.#told = { hung: 0, new: 0, slow: 0, quick: 0 };
      this.#options.onUnused();
    });
    this.#pause.unref();
  }
}
