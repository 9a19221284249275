import { gaugeOnDemand, type Metrics, CounterOnDemand } from '@waybell/runtime/metrics';
import type { WaitingReason } from '../outcomes.ts';
import type { WaitingFigures } from './waiting-store.ts';

/** The kinds of rooms. */
const KINDS = ['endpoints', 'destinations'] as const;
type WaitingKind = (typeof KINDS)[number];
export type FiguresOf = Record<WaitingKind, WaitingFigures>;

/** The state of waiting in one part of the process. `isAway`: Postgres does not take rows. */
export type WaitingHere = { claimed: number; shut: number; isAway: boolean };

const NOTHING: WaitingFigures = { rows: 0, bytes: 0 };

/** Metrics of the waiting room. No label for rooms: their number has no bound. */
export class WaitingMetrics {
  /** The figures of the service's rooms, as counted last. */
  figures: FiguresOf = { endpoints: NOTHING, destinations: NOTHING };
  readonly #parts: (() => WaitingHere)[] = [];
  readonly #put: CounterOnDemand<'why'>;
  readonly #taken: CounterOnDemand<'of'>;

  constructor(metrics: Metrics, now = Date.now) {
    const gauge = (name: string, help: string, value: (figures: WaitingFigures) => number) =>
      gaugeOnDemand(metrics, { name, help, labelNames: ['of'] }, () =>
        KINDS.map((of) => ({ labels: { of }, value: value(this.figures[of]) })),
      );
    gauge('waybell_waiting_rows', 'What waits in Postgres', ({ rows }) => rows);
    gauge('waybell_waiting_bytes', 'Size of what waits in Postgres', ({ bytes }) => bytes);
    gauge('waybell_waiting_oldest_seconds', 'Age of the oldest that waits in Postgres', ({ oldestAt }) =>
      oldestAt === undefined ? 0 : Math.max(0, now() - oldestAt) / 1_000,
    );
    gaugeOnDemand(
      metrics,
      {
        name: 'waybell_waiting_rooms',
        help: 'Rooms that this process empties; shut: took nothing lately',
        labelNames: ['state'],
      },
      () => (['claimed', 'shut'] as const).map((state) => ({ labels: { state }, value: this.#sum(state) })),
    );
    gaugeOnDemand(
      metrics,
      { name: 'waybell_waiting_away', help: '1 while Postgres does not take what is to wait' },
      () => [{ value: this.#parts.some((part) => part().isAway) ? 1 : 0 }],
    );
    this.#put = new CounterOnDemand(metrics, {
      name: 'waybell_waiting_put_total',
      help: 'Put into the waiting room: full, hung, busy, paused, stopped, open (request under way), egress (no way out), broker',
      labelNames: ['why'],
    });
    this.#taken = new CounterOnDemand(metrics, {
      name: 'waybell_waiting_taken_total',
      help: 'Rows taken from the waiting room',
      labelNames: ['of'],
    });
  }

  /** Adds a part of the process that has rooms. */
  show(part: () => WaitingHere): void {
    this.#parts.push(part);
  }

  countPut(why: WaitingReason): void {
    this.#put.inc({ why });
  }

  countTaken(of: WaitingKind, rows: number): void {
    this.#taken.inc({ of }, rows);
  }

  #sum(state: 'claimed' | 'shut'): number {
    return this.#parts.reduce((sum, part) => sum + part()[state], 0);
  }
}
