import type { Clock } from '@waybell/runtime/clock';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import { MOST_ROWS, type ParkingStore, type RowKey } from './parking-store.ts';
import type { ParkedRowsInHand } from './parked-rows-in-hand.ts';
import type { HeldRows } from './take-where-room.ts';

/** Parked deliveries that end without an attempt, whatever their endpoint does. The handler decides how each ends. */
export type ParkedToEnd = {
  /** A second one of the same name replaces the first. */
  name: string;
  account: string;
  subscriptions: readonly string[];
  /** Milliseconds since the epoch; absent: all. */
  madeBefore?: number;
  isOverLimit: boolean;
};

export type EndParkedOptions = {
  store: Pick<ParkingStore, 'take'>;
  owned: OwnedEndpoints;
  inHand: ParkedRowsInHand;
  /** With this much in hand no more are taken. */
  limit: HeldRows;
  clock: Clock;
  isPaused: () => boolean;
  isLeaving: (shard: number) => boolean;
  onFailed: (error: unknown) => void;
};

/** At most 2,000 rows a second: a small part of what Postgres and the broker can do. */
const PAUSE_MS = 32;
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Takes parked deliveries that are to end, a few at a time. */
export class EndParked {
  readonly #options: EndParkedOptions;
  readonly #all = new Map<string, ParkedToEnd & { after: Map<string, RowKey | undefined> }>();
  #isEnding = false;

  constructor(options: EndParkedOptions) {
    this.#options = options;
  }

  has(name: string): boolean {
    return this.#all.has(name);
  }

  begin(toEnd: ParkedToEnd): void {
    const after = new Map(toEnd.subscriptions.map((subscription) => [subscription, undefined]));
    this.#all.set(toEnd.name, { ...toEnd, after });
    if (!this.#isEnding) void this.#end();
  }

  /** Stops ending the deliveries of this name. */
  stop(name: string): void {
    this.#all.delete(name);
  }

  clear(): void {
    this.#all.clear();
  }

  async #end(): Promise<void> {
    const { clock, inHand, limit, isPaused, onFailed } = this.#options;
    this.#isEnding = true;
    for (let [toEnd] = this.#all.values(); toEnd !== undefined; [toEnd] = this.#all.values()) {
      let pauseMs = PAUSE_MS;
      try {
        if (!isPaused() && inHand.count < limit.rows && inHand.bytes < limit.bytes) await this.#endSome(toEnd);
      } catch (error) {
        onFailed(error);
        if (this.#all.delete(toEnd.name)) this.#all.set(toEnd.name, toEnd);
        pauseMs = PAUSE_AFTER_FAILURE_MS;
      }
      await clock.sleep(pauseMs);
    }
    this.#isEnding = false;
  }

  async #endSome(toEnd: ParkedToEnd & { after: Map<string, RowKey | undefined> }): Promise<void> {
    const { store, owned, inHand, isPaused } = this.#options;
    const { name, account, after, isOverLimit } = toEnd;
    const madeBefore = Math.min(toEnd.madeBefore ?? Infinity, Number.MAX_SAFE_INTEGER);
    const wanted = { endpoint: name, after: new Map(after), limit: MOST_ROWS, madeBefore };
    const [taken] = await inHand.reading(() => store.take([wanted]));
    const rows = taken?.rows ?? [];
    // Replaced or stopped meanwhile.
    if (this.#all.get(name) !== toEnd || isPaused()) return;
    for (const row of rows) {
      after.set(row.subscription, row);
      const of = owned.of(row.subscription);
      if (of === undefined || inHand.has(row) || this.#options.isLeaving(of.shard)) continue;
      const { endpoint, shard } = of;
      inHand.take({ row, account, endpoint, shard }, { deaths: 0, isOverLimit });
    }
    const isOwned = toEnd.subscriptions.some((subscription) => owned.of(subscription) !== undefined);
    // Behind the others: none waits for a million rows of one.
    this.#all.delete(name);
    if (isOwned && rows.length > 0) this.#all.set(name, toEnd);
  }
}
