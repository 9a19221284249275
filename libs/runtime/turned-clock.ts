import { sleepOn, type Clock, type Timer } from './clock.ts';

type TurnedTimer = Timer & { at: number; order: number; run: () => void; isOff: boolean };

/** A clock that stands still until a test or a simulation turns it. */
export class TurnedClock implements Clock {
  #now: number;
  #order = 0;
  /** A binary heap: the next timer first. */
  readonly #timers: TurnedTimer[] = [];

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
    this.#push(timer);
    return timer;
  };

  sleep = (delayMs: number, signal?: AbortSignal): Promise<void> => sleepOn(this, delayMs, signal);

  /** Returns when the next timer is due; undefined without one. */
  nextAt(): number | undefined {
    while (this.#timers[0]?.isOff) this.#pop();
    return this.#timers[0]?.at;
  }

  /** Turns to the next timer and runs it. */
  step(): void {
    if (this.nextAt() === undefined) return;
    const timer = this.#pop();
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

  #push(timer: TurnedTimer): void {
    const heap = this.#timers;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(timer, heap[above])) break;
      heap[place] = heap[above] ?? timer;
      place = above;
    }
    heap[place] = timer;
  }

  #pop(): TurnedTimer | undefined {
    const heap = this.#timers;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const smaller = isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
      const below = heap[smaller];
      if (below === undefined || !isBefore(below, last)) break;
      heap[place] = below;
      place = smaller;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(one: TurnedTimer | undefined, other: TurnedTimer | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined;
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Resolves when all consequences of settled promises have run, those in the next turns of the event loop included. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Effects gathered in one turn may cause effects that are gathered in the next. */
const TURNS = 3;
