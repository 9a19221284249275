import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';
import { onConnection, type Postgres, type Queryable } from './postgres.ts';
import type { Readiness } from './readiness.ts';
import { runEvery } from './run-every.ts';
import { Unavailable } from './unavailable.ts';

export type ClockWatchOptions = {
  /** Runs statements on one connection. */
  ask: <T>(work: (postgres: Queryable) => Promise<T>) => Promise<T>;
  /** Largest accepted difference in milliseconds; 0: any. */
  limitMs: number;
  readiness: Pick<Readiness, 'watch'>;
  log: Pick<Log, 'info' | 'warn'>;
  clock?: Clock;
  now?: () => number;
};

/** Less than the 7 s of a carrier's attempts: a wrong clock is noticed before any delivery has had all its attempts. */
const EVERY_MS = 5_000;
/** Part of the limit that a round trip may take: the answer may be wrong by half of the trip. */
const SLOW = 1 / 4;

const TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as at';

/**
 * Compares the clock of this process with that of Postgres, which all processes share. While they differ by more than the limit,
 * the process is not ready and reports both times. Between comparisons, and while Postgres is away, extrapolates Postgres' time
 * by the monotonic clock: so a clock that is set, wrong or right, is noticed at once.
 */
export class ClockWatch implements AsyncDisposable {
  readonly #options: Required<ClockWatchOptions>;
  readonly #watching: AsyncDisposable | undefined;
  /** Postgres' time at 0 of the monotonic clock; undefined before the first comparison. */
  #origin: number | undefined;
  #wasWrong = false;

  constructor(options: ClockWatchOptions) {
    this.#options = { clock: systemClock, now: Date.now, ...options };
    if (options.limitMs === 0) return;
    options.readiness.watch(() => this.waitingFor());
    this.#watching = runEvery(
      // Keeps the last known difference: the users of Postgres report that it is away.
      () => this.compare().catch(() => undefined),
      { intervalMs: EVERY_MS, warning: 'clock.not-compared', log: options.log, clock: this.#options.clock },
    );
  }

  /** Asks Postgres for its time. Throws if Postgres is away, or too slow for a useful answer. */
  compare = async (): Promise<void> => {
    const { ask, limitMs, clock } = this.#options;
    if (limitMs === 0) return;
    await ask(async (postgres) => {
      const beganAt = clock.now();
      const { rows } = await postgres.query<{ at: number }>(TIME);
      const tookMs = clock.now() - beganAt;
      if (tookMs > SLOW * limitMs) throw new Error(`Postgres took ${Math.round(tookMs)} ms to say its time`);
      this.#origin = (rows[0]?.at ?? Number.NaN) - beganAt - tookMs / 2;
    });
    this.#report();
  };

  /** Describes a difference beyond the limit; empty without one. */
  waitingFor(): string[] {
    const wrong = this.#wrong();
    return wrong === undefined ? [] : [`clock: here ${wrong.here}, Postgres ${wrong.postgres}`];
  }

  /** Returns the same function, except that it throws `Unavailable` while the clock is wrong. */
  guard<A extends unknown[], R>(work: (...given: A) => R): (...given: A) => R {
    return (...given) => {
      if (this.#wrong() !== undefined) throw this.#unavailable();
      return work(...given);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watching?.[Symbol.asyncDispose]();
  }

  #wrong(): { here: string; postgres: string } | undefined {
    const { clock, now, limitMs } = this.#options;
    if (this.#origin === undefined) return undefined;
    const here = now();
    const postgres = this.#origin + clock.now();
    return Math.abs(here - postgres) <= limitMs ? undefined : { here: timeOf(here), postgres: timeOf(postgres) };
  }

  #unavailable(): Unavailable {
    const probe = async () => {
      // Postgres' own clock may have been wrong, or the whole machine asleep.
      await this.compare().catch(() => undefined);
      if (this.#wrong() !== undefined) throw this.#unavailable();
    };
    return new Unavailable('clock', probe, new Error(this.waitingFor().join()));
  }

  #report(): void {
    const wrong = this.#wrong();
    if ((wrong !== undefined) === this.#wasWrong) return;
    this.#wasWrong = wrong !== undefined;
    if (wrong === undefined) this.#options.log.info('clock.right');
    else this.#options.log.warn(wrong, 'clock.wrong');
  }
}

/** Compares the clocks once, however long that takes, and watches them from then on. */
export async function watchClock(
  postgres: Postgres,
  options: Omit<ClockWatchOptions, 'ask'> & { readiness: Pick<Readiness, 'until'> },
): Promise<ClockWatch> {
  const watch = new ClockWatch({ ask: (work) => onConnection(postgres, work), ...options });
  await options.readiness.until('clock', watch.compare);
  return watch;
}

/** Omits the milliseconds. */
const timeOf = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
