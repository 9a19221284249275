import type { Broker } from '@waybell/line/broker';
import { publishInstead } from '@waybell/line/delivery';
import type { Waiting, RowKey, WaitingRow } from '@waybell/line/messages';
import type { WaitingReason } from '@waybell/line/outcomes';
import { rowKeyText } from '@waybell/line/waiting-room/put-rows';
import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import { microBatch } from '@waybell/runtime/micro-batch';
import { Unavailable } from '@waybell/runtime/unavailable';

export type PutDeliveriesOptions = {
  store: Pick<WaitingStore, 'put' | 'retain'>;
  broker: Pick<Broker, 'publish' | 'state'>;
  clock: Clock;
  onPut: (why: WaitingReason) => void;
  /** Called for an endpoint that got room while rows of its were being put, which a claim might not have seen. */
  onCapacity: (endpoint: string) => void;
};

/** Time for Postgres to answer. After it the delivery goes to the waiting queue; when it returns, `retain` finds out whether it was put. */
const ANSWER_LIMIT_MS = 1_000;
/**
 * Pause after a failure, so that deliveries need not each wait for the limit. Nothing is tried either while an abandoned
 * statement has no answer: more would pile up.
 */
const AWAY_MS = 1_000;

/** A statement is several times as large as the bodies in it. */
const HEAVIEST_PUT_BYTES = 2 ** 21;

/** Puts deliveries into the rooms of their endpoints, many by one statement; while Postgres is away, into the waiting queue of the broker. */
export class PutDeliveries {
  readonly #options: PutDeliveriesOptions;
  readonly #putRow: (row: WaitingRow) => Promise<number>;
  readonly #retain: (key: RowKey) => Promise<boolean>;
  /** Number of rows being put, by room, and whether its endpoint got room meanwhile. */
  readonly #underWay = new Map<string, { rows: number; gotCapacity: boolean }>();
  #awayUntil = -Infinity;
  /** Statements that were abandoned and have no answer yet. */
  #unanswered = 0;

  constructor(options: PutDeliveriesOptions) {
    const { store } = options;
    this.#options = options;
    this.#putRow = microBatch((rows: WaitingRow[]) => store.put(rows), {
      nameOf: rowKeyText,
      heaviest: { weigh: ({ publication }) => publication.body.length, most: HEAVIEST_PUT_BYTES },
    });
    this.#retain = microBatch((keys: RowKey[]) => store.retain(keys), { nameOf: rowKeyText });
  }

  get isAway(): boolean {
    return this.#unanswered > 0 || this.#options.clock.now() < this.#awayUntil;
  }

  /** Resolves when the delivery is stored. Rejects with `Unavailable` if it is not, or may not be. */
  readonly put = async (waiting: Waiting): Promise<void> => {
    if ((await this.putRow(waiting.row)) === undefined) await this.#setAside(waiting);
  };

  /** Resolves with the row's `no`; undefined while Postgres is away: it may have been put or not. */
  async putRow(row: WaitingRow): Promise<number | undefined> {
    const { room } = row;
    const underWay = this.#underWay.get(room) ?? { rows: 0, gotCapacity: false };
    this.#underWay.set(room, underWay);
    underWay.rows += 1;
    const no = await this.#inTime(() => this.#putRow(row)).finally(() => {
      underWay.rows -= 1;
      if (underWay.rows > 0) return;
      this.#underWay.delete(room);
      if (underWay.gotCapacity) this.#options.onCapacity(room);
    });
    if (no !== undefined) this.#options.onPut(row.why);
    return no;
  }

  /** Notes that an endpoint has room. False unless rows are being put there. */
  noteCapacity(endpoint: string): boolean {
    const underWay = this.#underWay.get(endpoint);
    if (underWay !== undefined) underWay.gotCapacity = true;
    return underWay !== undefined;
  }

  /**
   * Whether the row is there; then a process that took it cannot settle it any more. False while Postgres is away: no process
   * can take the row then either, and a copy made later is recognised as a repeat.
   */
  readonly retain = async (key: RowKey): Promise<boolean> => (await this.#inTime(() => this.#retain(key))) === true;

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

  async #setAside(waiting: Waiting): Promise<void> {
    const { broker } = this.#options;
    // Publishing would wait for as long as the broker blocks; Postgres may be back sooner.
    if (broker.state() !== 'writable') throw new Unavailable('postgres', () => Promise.resolve());
    await broker.publish(publishInstead(waiting));
  }
}
