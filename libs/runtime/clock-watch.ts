import { systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';
import { onConnection, type Postgres, type Queryable } from './postgres.ts';
import type { Readiness } from './readiness.ts';
import { runEvery } from './run-every.ts';
import { Unavailable } from './unavailable.ts';

export type ClockWatchOptions = {
  /** Runs statements on one connection. */
  ask: <T>(work: (postgres: Queryable) => Promise<T>) => Promise<T>;
  /** A difference of more is too much, in milliseconds; 0: none is. */
  limitMs: number;
  readiness: Pick<Readiness, 'watch'>;
  log: Pick<Log, 'info' | 'warn'>;
  clock?: Clock;
  now?: () => number;
};

/** Less than a carrier's attempts take, 7 s: none of its deliveries has all of them while the clock is found to be wrong. */
const EVERY_MS = 5_000;
/** The part of the limit that a round trip may take: the answer may be wrong by half of the trip. */
const SLOW = 1 / 4;

const TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as at';

/**
 * Compares the clock of this process with that of Postgres, which all processes share. While they differ by more than the
 * limit the process is not ready, and says both times. In between, and while Postgres is away, Postgres' time is reckoned
 * by the monotonic clock: a clock that is set is found out at once, and one that is right again, too.
 */
export class ClockWatch implements AsyncDisposable {
  readonly #options: Required<ClockWatchOptions>;
  readonly #watching: AsyncDisposable | undefined;
  /** Postgres' time at 0 of the monotonic clock; undefined until it was asked for. */
  #origin: number | undefined;
  #wasWrong = false;

  constructor(options: ClockWatchOptions) {
    this.#options = { clock: systemClock, now: Date.now, ...options };
    if (options.limitMs === 0) return;
    options.readiness.watch(() => this.waitingFor());
    this.#watching = runEvery(
      // The last known difference stays: whoever needs Postgres reports that it is away.
      () => this.compare().catch(() => undefined),
      { intervalMs: EVERY_MS, complaint: 'clock.not-compared', log: options.log, clock: this.#options.clock },
    );
  }

  /** Asks Postgres for its time. Throws where it is away, or so slow that the answer says nothing. */
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
    this.#tell();
  };

  /** What is too far apart, in words; empty where nothing is. */
  waitingFor(): string[] {
    const wrong = this.#wrong();
    return wrong === undefined ? [] : [`clock: here ${wrong.here}, Postgres ${wrong.postgres}`];
  }

  /** The same work, which throws `Unavailable` instead of beginning while the clock is wrong. */
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
    const [here, postgres] = [now(), this.#origin + clock.now()];
    return Math.abs(here - postgres) <= limitMs ? undefined : { here: timeOf(here), postgres: timeOf(postgres) };
  }

  #unavailable(): Unavailable {
    const probe = async () => {
      // Postgres' own clock may have been the wrong one, or the whole machine have slept.
      await this.compare().catch(() => undefined);
      if (this.#wrong() !== undefined) throw this.#unavailable();
    };
    return new Unavailable('clock', probe, new Error(this.waitingFor().join()));
  }

  #tell(): void {
    const wrong = this.#wrong();
    if ((wrong !== undefined) === this.#wasWrong) return;
    this.#wasWrong = wrong !== undefined;
    if (wrong === undefined) this.#options.log.info('clock.right');
    else this.#options.log.warn(wrong, 'clock.wrong');
  }
}

type Watching = Omit<ClockWatchOptions, 'ask'> & { readiness: Pick<Readiness, 'until'> };

/** Compares the clocks once, for as long as that takes, and watches them from then on. */
export async function watchClock(postgres: Postgres, options: Watching): Promise<ClockWatch> {
  const watch = new ClockWatch({ ask: (work) => onConnection(postgres, work), ...options });
  await options.readiness.until('clock', watch.compare);
  return watch;
}

/** Without the milliseconds, which say nothing here. */
const timeOf = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
