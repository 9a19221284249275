import type { Broker } from '@waybell/line/broker/connect-broker';
import type { Parked, ParkReason } from '@waybell/line/messages';
import type { Clock } from '@waybell/runtime/clock';
import { microBatch } from '@waybell/runtime/micro-batch';
import { Unavailable } from '@waybell/runtime/unavailable';
import { placeOf, type ParkingStore } from './parking-store.ts';
import type { Sums } from './sums.ts';

export type ParkOptions = {
  store: Pick<ParkingStore, 'insert'>;
  broker: Pick<Broker, 'publish' | 'state'>;
  sums: Sums;
  clock: Clock;
  onParked: (why: ParkReason) => void;
};

/** What is not committed by then goes to a waiting queue; what comes back from there finds out whether it was after all. */
const COMMIT_LIMIT_MS = 1_000;
/** For so long nothing else tries, so that each need not wait for its own limit. */
const AWAY_MS = 1_000;

/** Puts deliveries where they wait for their endpoint: together, into Postgres; and while that is away into waiting queues. */
export class Park {
  readonly #options: ParkOptions;
  readonly #insert: (parked: Parked) => Promise<void>;
  #awayUntil = -Infinity;

  constructor(options: ParkOptions) {
    this.#options = options;
    this.#insert = microBatch<Parked, void>((parked) => this.#insertAll(parked), { nameOf: ({ row }) => placeOf(row) });
  }

  get isAway(): boolean {
    return this.#options.clock.now() < this.#awayUntil;
  }

  /** Resolves when it is safe there. Rejects with `Unavailable` where it is not, or not known to be. */
  readonly park = async (parked: Parked): Promise<void> => {
    const { otherwise, row } = parked;
    if (otherwise === undefined) await this.#insert(parked);
    else if (this.isAway || !(await this.#isInsertedInTime(parked))) await this.#wait(otherwise);
    this.#options.onParked(row.why);
  };

  async #insertAll(parked: readonly Parked[]): Promise<void[]> {
    await this.#options.store.insert(parked.map(({ row }) => row));
    for (const { account, row } of parked) this.#options.sums.add({ account, rows: 1, bytes: row.body.length });
    return [];
  }

  async #isInsertedInTime(parked: Parked): Promise<boolean> {
    const { clock } = this.#options;
    const ended = new AbortController();
    try {
      const isInTime = await Promise.race([
        this.#insert(parked).then(() => true),
        clock.sleep(COMMIT_LIMIT_MS, ended.signal).then(() => false),
      ]);
      if (!isInTime) this.#awayUntil = clock.now() + AWAY_MS;
      return isInTime;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.#awayUntil = clock.now() + AWAY_MS;
      return false;
    } finally {
      ended.abort();
    }
  }

  async #wait(otherwise: NonNullable<Parked['otherwise']>): Promise<void> {
    const { broker } = this.#options;
    // To publish would wait for the broker for as long as that blocks; Postgres may be back sooner.
    if (broker.state() !== 'writable') throw new Unavailable('postgres', () => Promise.resolve());
    await broker.publish(otherwise);
  }
}
