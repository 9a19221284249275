import type { Clock } from '@waybell/runtime/clock';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { OwnedEndpoints, OwnedEndpoint } from './owned-endpoints.ts';
import { MOST_BYTES, MOST_ROWS, type ParkingStore, type TakenRows } from './parking-store.ts';
import type { ParkedRowsInHand } from './parked-rows-in-hand.ts';

export type HeldRows = { rows: number; bytes: number };

export type TakeWhereRoomOptions = {
  store: Pick<ParkingStore, 'take'>;
  endpoints: Pick<Endpoints, 'demand'>;
  owned: OwnedEndpoints;
  inHand: ParkedRowsInHand;
  limit: HeldRows;
  clock: Clock;
  isPaused: () => boolean;
  /** Whether another deliverer is to have the shard. */
  isLeaving: (shard: number) => boolean;
  onFailed: (error: unknown) => void;
  /** Called with endpoints of which nothing can be taken now. */
  onNothing: (endpoints: readonly OwnedEndpoint[]) => void;
};

/** Rows in hand for one endpoint, at most: those under way, and as many that wait. */
const MOST_OF_ONE = 2 * MOST_ROWS;
/** Endpoints that one statement reads. */
const MOST_READS = 32;
/** Number of deaths that makes a row a suspect: see `suspicion.ts` of the hand-over. */
const DEADLY = 3;
const RESTART_MS = 1_000;
/**
 * Behind a long transaction a read from the first row passes many dead ones: a restart waits this many times as long as the
 * last read took.
 */
const RESTART_TIMES = 20;

/** Takes parked rows for endpoints with room, the oldest first, many endpoints by one statement. */
export class TakeWhereRoom {
  readonly #options: TakeWhereRoomOptions;
  readonly #wanting = new Set<OwnedEndpoint>();
  #isTaking = false;

  constructor(options: TakeWhereRoomOptions) {
    this.#options = options;
  }

  /** There may be rows to take for the endpoint. */
  want(owned: OwnedEndpoint): void {
    this.#wanting.add(owned);
    this.go();
  }

  go(): void {
    if (!this.#isTaking && this.#wanting.size > 0) void this.#take();
  }

  async #take(): Promise<void> {
    const { store, inHand, clock, onFailed } = this.#options;
    this.#isTaking = true;
    try {
      // All endpoints that want rows in the same turn are read together.
      await Promise.resolve();
      for (let reads = this.#planReads(); reads.length > 0; reads = this.#planReads()) {
        const beganAt = clock.now();
        const taken = await inHand.reading(() => store.take(reads.map(({ wanted }) => wanted)));
        const byEndpoint = new Map(taken.map((each) => [each.endpoint, each]));
        for (const read of reads) this.#applyRead(read, byEndpoint.get(read.owned.endpoint), clock.now() - beganAt);
        this.#reportNothing(reads);
      }
    } catch (error) {
      onFailed(error);
    } finally {
      this.#isTaking = false;
    }
  }

  #reportNothing(reads: readonly PlannedRead[]): void {
    const { inHand, onNothing } = this.#options;
    const empty = reads.filter(({ owned }) => owned.isAtEnd && inHand.countOf(owned.endpoint) === 0);
    if (empty.length > 0) onNothing(empty.map(({ owned }) => owned));
  }

  #planReads(): PlannedRead[] {
    const { inHand, limit, isPaused } = this.#options;
    const reads: PlannedRead[] = [];
    let rows = limit.rows - inHand.count;
    // Each read may bring this many bytes; how many is only known afterwards.
    const most = Math.min(MOST_READS, Math.ceil((limit.bytes - inHand.bytes) / MOST_BYTES));
    for (const owned of this.#wanting) {
      if (isPaused() || rows <= 0 || reads.length >= most) break;
      const read = this.#planRead(owned, rows);
      if (read === undefined) this.#wanting.delete(owned);
      else {
        rows -= read.rows;
        reads.push(read);
      }
    }
    return reads;
  }

  #planRead(owned: OwnedEndpoint, most: number): PlannedRead | undefined {
    const { endpoints, inHand, clock } = this.#options;
    if (this.#options.owned.get(owned.endpoint) !== owned || this.#options.isLeaving(owned.shard)) return undefined;
    const { rows, askAt } = endpoints.demand(owned);
    this.#askAt(owned, rows > 0 ? undefined : askAt);
    if (rows === 0) {
      owned.roomSince = undefined;
      return undefined;
    }
    // Rows on their way to the endpoint do not count there yet.
    const room = MOST_OF_ONE - inHand.countOf(owned.endpoint);
    if (room <= 0) return undefined;
    const isRestart = owned.restartAt <= clock.now();
    if (owned.isAtEnd && !isRestart) {
      this.#askAt(owned, owned.restartAt);
      return undefined;
    }
    owned.roomSince ??= clock.now();
    if (isRestart) for (const subscription of owned.after.keys()) owned.after.set(subscription, undefined);
    const wantedRows = owned.deaths >= DEADLY ? 1 : Math.min(rows, most, MOST_ROWS, room);
    // A read from the first row finds those in hand again.
    const limit = wantedRows + (isRestart ? inHand.countOf(owned.endpoint) : 0);
    return {
      owned,
      rows: wantedRows,
      isRestart,
      wanted: { endpoint: owned.endpoint, after: new Map(owned.after), limit },
    };
  }

  #applyRead(
    { owned, rows: most, isRestart, wanted }: PlannedRead,
    taken: TakenRows | undefined,
    tookMs: number,
  ): void {
    const { inHand, clock, isPaused } = this.#options;
    const rows = taken?.rows ?? [];
    owned.isAtEnd = rows.length < wanted.limit && taken?.isCut !== true;
    // Behind the others, which may be more than one statement reads.
    this.#wanting.delete(owned);
    if (!owned.isAtEnd) this.#wanting.add(owned);
    else owned.roomSince = undefined;
    if (isRestart || owned.isAtEnd) owned.restartAt = clock.now() + Math.max(RESTART_MS, RESTART_TIMES * tookMs);
    if (isPaused() || this.#options.owned.get(owned.endpoint) !== owned) return;
    let left = most;
    for (const row of rows) {
      if (left > 0 || inHand.has(row)) owned.after.set(row.subscription, row);
      if (left === 0 || inHand.has(row)) continue;
      left -= 1;
      owned.roomSince = undefined;
      const { account, endpoint, shard, deaths } = owned;
      inHand.take({ row, account, endpoint, shard }, { deaths: deaths >= DEADLY ? deaths : 0, isOverLimit: false });
    }
  }

  /** Sets when the endpoint is asked again; undefined: when it has room. */
  #askAt(owned: OwnedEndpoint, at: number | undefined): void {
    const { clock } = this.#options;
    owned.askTimer?.[Symbol.dispose]();
    owned.askTimer = at === undefined ? undefined : clock.after(Math.max(0, at - clock.now()), () => this.want(owned));
    owned.askTimer?.unref();
  }
}

type PlannedRead = {
  owned: OwnedEndpoint;
  rows: number;
  isRestart: boolean;
  wanted: Parameters<ParkingStore['take']>[0][number];
};
