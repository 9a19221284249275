import type { Broker } from '@waybell/line/broker';
import type { Parked, Publication } from '@waybell/line/messages';
import type { ParkReason } from '@waybell/line/outcomes';
import type { Clock } from '@waybell/runtime/clock';
import { microBatch } from '@waybell/runtime/micro-batch';
import { Unavailable } from '@waybell/runtime/unavailable';
import { placeOf, type ParkingStore, type SoughtKey } from './parking-store.ts';
import type { SumChanges } from './sum-changes.ts';

export type ParkOptions = {
  store: Pick<ParkingStore, 'insert' | 'has'>;
  broker: Pick<Broker, 'publish' | 'state'>;
  sums: SumChanges;
  clock: Clock;
  onParked: (why: ParkReason) => void;
};

/**
 * Time for Postgres to answer. After it the delivery goes to the waiting queue; when it returns, `isParked` finds out
 * whether it was parked after all.
 */
const ANSWER_LIMIT_MS = 1_000;
/**
 * Pause after a failure, so that deliveries need not each wait for the limit. Nothing is tried either while an abandoned
 * statement has no answer: more would pile up.
 */
const AWAY_MS = 1_000;

/** A statement is several times as large as the bodies in it. */
const HEAVIEST_INSERT_BYTES = 2 ** 21;

/** Parks deliveries in Postgres, many by one statement; while Postgres is away, in the waiting queue of the broker. */
export class Park {
  readonly #options: ParkOptions;
  readonly #insert: (parked: Parked) => Promise<void>;
  readonly #has: (key: SoughtKey) => Promise<boolean>;
  #awayUntil = -Infinity;
  /** Statements that were abandoned and have no answer yet. */
  #unanswered = 0;

  constructor(options: ParkOptions) {
    this.#options = options;
    this.#insert = microBatch<Parked, void>((parked) => this.#insertAll(parked), {
      nameOf: ({ row }) => placeOf(row),
      heaviest: { weigh: ({ row }) => row.body.length, most: HEAVIEST_INSERT_BYTES },
    });
    this.#has = microBatch((keys: SoughtKey[]) => options.store.has(keys), {
      nameOf: (key) => `${placeOf(key)} ${key.mayBeOpen}`,
    });
  }

  get isAway(): boolean {
    return this.#unanswered > 0 || this.#options.clock.now() < this.#awayUntil;
  }

  /** Resolves when the delivery is stored. Rejects with `Unavailable` if it is not, or may not be. */
  readonly park = async (parked: Parked): Promise<void> => {
    const { otherwise, row } = parked;
    if ((await this.#inTime(() => this.#insert(parked).then(() => true))) !== true) await this.#wait(otherwise);
    this.#options.onParked(row.why);
  };

  /**
   * Returns whether an attempt is parked, with at least this hop. False while Postgres is away: no process can take the row then
   * either, and a copy made later is recognised as a repeat.
   */
  readonly isParked = async (key: SoughtKey): Promise<boolean> => (await this.#inTime(() => this.#has(key))) === true;

  async #insertAll(parked: readonly Parked[]): Promise<void[]> {
    await this.#options.store.insert(parked.map(({ row }) => row));
    for (const { account, row } of parked) this.#options.sums.add({ account, rows: 1, bytes: row.body.length });
    return [];
  }

  /** The answer of Postgres; undefined if there is none in time. */
  async #inTime<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (this.isAway) return undefined;
    const { clock } = this.#options;
    const ended = new AbortController();
    const late = clock.sleep(ANSWER_LIMIT_MS, ended.signal).then(() => undefined);
    try {
      const asked = ask();
      const answer = await Promise.race([asked, late]);
      if (answer === undefined) this.#giveUp(asked);
      return answer;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.#awayUntil = clock.now() + AWAY_MS;
      return undefined;
    } finally {
      ended.abort();
    }
  }

  #giveUp(asked: Promise<unknown>): void {
    this.#awayUntil = this.#options.clock.now() + AWAY_MS;
    this.#unanswered += 1;
    const answered = () => void (this.#unanswered -= 1);
    asked.then(answered, answered);
  }

  async #wait(otherwise: Publication): Promise<void> {
    const { broker } = this.#options;
    // Publishing would wait for as long as the broker blocks; Postgres may be back sooner.
    if (broker.state() !== 'writable') throw new Unavailable('postgres', () => Promise.resolve());
    await broker.publish(otherwise);
  }
}
