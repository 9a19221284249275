import { sleepOn, type Clock, type Timer } from './clock.ts';
import { Heap } from './heap.ts';

type TurnedTimer = Timer & { at: number; order: number; run: () => void; isOff: boolean };

/** A clock that stands still until a test or a simulation turns it. */
export class TurnedClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Heap<TurnedTimer>(
    (one, other) => one.at < other.at || (one.at === other.at && one.order < other.order),
  );

  constructor(now = 0) {
    this.#now = now;
  }

  now = (): number => this.#now;

  after = (delayMs: number, run: () => void): Timer => {
    const timer: TurnedTimer = {
      // Timers have whole milliseconds.
      at: this.#now + Math.ceil(delayMs),
      order: this.#order++,
      run,
      isOff: false,
      unref: () => timer,
      [Symbol.dispose]: () => {
        timer.isOff = true;
      },
    };
    this.#timers.push(timer);
    return timer;
  };

  sleep = (delayMs: number, signal?: AbortSignal): Promise<void> => sleepOn(this, delayMs, signal);

  /** Returns when the next timer is due; undefined without one. */
  nextAt(): number | undefined {
    while (this.#timers.first?.isOff) this.#timers.pop();
    return this.#timers.first?.at;
  }

  /** Turns to the next timer and runs it. */
  step(): void {
    if (this.nextAt() === undefined) return;
    const timer = this.#timers.pop();
    if (timer === undefined) return;
    this.#now = Math.max(this.#now, timer.at);
    timer.run();
  }

  /** Turns by this time; runs everything due until then, including what that causes, each at its time. */
  async runFor(durationMs: number): Promise<void> {
    const end = this.#now + durationMs;
    await settled();
    for (let at = this.nextAt(); at !== undefined && at <= end; at = this.nextAt()) {
      this.step();
      await settled();
    }
    this.skipTo(end);
  }

  /** Sets the time without running anything. */
  skipTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }
}

/** Resolves when all consequences of settled promises have run, those in the next turns of the event loop included. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Effects gathered in one turn may cause effects that are gathered in the next. */
const TURNS = 3;
