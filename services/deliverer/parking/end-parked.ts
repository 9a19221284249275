import type { Clock } from '@waybell/runtime/clock';
import type { Owned } from './owned.ts';
import { MOST_ROWS, type ParkingStore, type RowKey } from './parking-store.ts';
import type { RowsInHand } from './rows-in-hand.ts';
import type { HeldRows } from './take-where-room.ts';

/** Parked deliveries that are over, whatever their endpoint does: the handler says how each ends, and needs no room. */
export type Over = {
  /** Over for one reason at a time: a second one of this name takes the place of the first. */
  name: string;
  account: string;
  subscriptions: readonly string[];
  /** Milliseconds since the epoch; absent: all. */
  madeBefore?: number;
  isOverLimit: boolean;
};

export type EndParkedOptions = {
  store: Pick<ParkingStore, 'take'>;
  owned: Owned;
  inHand: RowsInHand;
  /** In hand, at most, before no more are ended. */
  limit: HeldRows;
  clock: Clock;
  isPaused: () => boolean;
  isLeaving: (shard: number) => boolean;
  onFailed: (error: unknown) => void;
};

/** At most 2,000 a second, and so never much of what the database and the broker can do. */
const PAUSE_MS = 32;
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Takes what is over, a little at a time. */
export class EndParked {
  readonly #options: EndParkedOptions;
  readonly #all = new Map<string, Over & { after: Map<string, RowKey | undefined> }>();
  #isEnding = false;

  constructor(options: EndParkedOptions) {
    this.#options = options;
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  begin(over: Over): void {
    const after = new Map(over.subscriptions.map((subscription) => [subscription, undefined]));
    this.#all.set(over.name, { ...over, after });
    if (!this.#isEnding) void this.#end();
  }

  /** It is not over after all. */
  stop(name: string): void {
    this.#all.delete(name);
  }

  clear(): void {
    this.#all.clear();
  }

  async #end(): Promise<void> {
    const { clock, inHand, limit, isPaused, onFailed } = this.#options;
    this.#isEnding = true;
    for (let [over] = this.#all.values(); over !== undefined; [over] = this.#all.values()) {
      let pauseMs = PAUSE_MS;
      try {
        if (!isPaused() && inHand.count < limit.rows && inHand.bytes < limit.bytes) await this.#endSome(over);
      } catch (error) {
        onFailed(error);
        if (this.#all.delete(over.name)) this.#all.set(over.name, over);
        pauseMs = PAUSE_AFTER_FAILURE_MS;
      }
      await clock.sleep(pauseMs);
    }
    this.#isEnding = false;
  }

  async #endSome(over: Over & { after: Map<string, RowKey | undefined> }): Promise<void> {
    const { store, owned, inHand, isPaused } = this.#options;
    const { name, account, after, isOverLimit } = over;
    const madeBefore = Math.min(over.madeBefore ?? Infinity, Number.MAX_SAFE_INTEGER);
    const wanted = { endpoint: name, after: new Map(after), limit: MOST_ROWS, madeBefore };
    const [taken] = await inHand.reading(() => store.take([wanted]));
    const rows = taken?.rows ?? [];
    // Something else came in between: the whole of it is looked at again.
    if (this.#all.get(name) !== over || isPaused()) return;
    for (const row of rows) {
      after.set(row.subscription, row);
      const of = owned.of(row.subscription);
      if (of === undefined || inHand.has(row) || this.#options.isLeaving(of.shard)) continue;
      const { endpoint, shard } = of;
      inHand.take({ row, account, endpoint, shard }, { deaths: 0, isOverLimit });
    }
    const isOwned = over.subscriptions.some((subscription) => owned.of(subscription) !== undefined);
    // Behind the others, of which none is to wait for a million of one.
    this.#all.delete(name);
    if (isOwned && rows.length > 0) this.#all.set(name, over);
  }
}
