import type { Clock } from '@waybell/runtime/clock';
import type { Endpoints } from '../endpoints/endpoints.ts';
import type { Owned, OwnedEndpoint } from './owned.ts';
import { MOST_BYTES, MOST_ROWS, type ParkingStore, type Taken } from './parking-store.ts';
import type { RowsInHand } from './rows-in-hand.ts';

export type HeldRows = { rows: number; bytes: number };

export type TakeWhereRoomOptions = {
  store: Pick<ParkingStore, 'take'>;
  endpoints: Pick<Endpoints, 'demand'>;
  owned: Owned;
  inHand: RowsInHand;
  limit: HeldRows;
  clock: Clock;
  isPaused: () => boolean;
  /** Another is to have that shard. */
  isLeaving: (shard: number) => boolean;
  onFailed: (error: unknown) => void;
  /** Called with the endpoints from which nothing may be taken now. */
  onNothing: (endpoints: readonly OwnedEndpoint[]) => void;
};

/** Rows of one endpoint in hand: as many as are under way at most, and as many that wait. */
const MOST_OF_ONE = 2 * MOST_ROWS;
/** Endpoints that one statement looks through. */
const LARGEST_LOOK = 32;
/** A deaths count that makes a row a suspect: see `suspicion.ts` of the hand-over. */
const DEADLY = 3;
const RESTART_MS = 1_000;
/** Behind a long transaction the first rows are found past many dead ones: no more than a part of the time goes there. */
const RESTART_TIMES = 20;

/** Takes parked rows where their endpoint has room: the oldest first, one look for all endpoints that have. */
export class TakeWhereRoom {
  readonly #options: TakeWhereRoomOptions;
  readonly #wanting = new Set<OwnedEndpoint>();
  #isTaking = false;

  constructor(options: TakeWhereRoomOptions) {
    this.#options = options;
  }

  /** There may be something to take for it. */
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
      // So that all that want something in one go are asked for together.
      await Promise.resolve();
      for (let looks = this.#looks(); looks.length > 0; looks = this.#looks()) {
        const beganAt = clock.now();
        const taken = await inHand.reading(() => store.take(looks.map(({ wanted }) => wanted)));
        const byEndpoint = new Map(taken.map((each) => [each.endpoint, each]));
        for (const look of looks) this.#took(look, byEndpoint.get(look.owned.endpoint), clock.now() - beganAt);
        this.#tellOfNothing(looks);
      }
    } catch (error) {
      onFailed(error);
    } finally {
      this.#isTaking = false;
    }
  }

  #tellOfNothing(looks: readonly Look[]): void {
    const { inHand, onNothing } = this.#options;
    const empty = looks.filter(({ owned }) => owned.isAtEnd && inHand.countOf(owned.endpoint) === 0);
    if (empty.length > 0) onNothing(empty.map(({ owned }) => owned));
  }

  #looks(): Look[] {
    const { inHand, limit, isPaused } = this.#options;
    const looks: Look[] = [];
    let rows = limit.rows - inHand.count;
    // Each may bring so much, and only then is known what it weighs.
    const most = Math.min(LARGEST_LOOK, Math.ceil((limit.bytes - inHand.bytes) / MOST_BYTES));
    for (const owned of this.#wanting) {
      if (isPaused() || rows <= 0 || looks.length >= most) break;
      const look = this.#look(owned, rows);
      if (look === undefined) this.#wanting.delete(owned);
      else {
        rows -= look.rows;
        looks.push(look);
      }
    }
    return looks;
  }

  #look(owned: OwnedEndpoint, most: number): Look | undefined {
    const { endpoints, inHand, clock } = this.#options;
    if (this.#options.owned.get(owned.endpoint) !== owned || this.#options.isLeaving(owned.shard)) return undefined;
    const { rows, askAt } = endpoints.demand(owned);
    this.#askAt(owned, rows > 0 ? undefined : askAt);
    if (rows === 0) {
      owned.roomSince = undefined;
      return undefined;
    }
    // What is on its way to its endpoint does not count there yet.
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
    // From the first, those in hand come again.
    const limit = wantedRows + (isRestart ? inHand.countOf(owned.endpoint) : 0);
    return {
      owned,
      rows: wantedRows,
      isRestart,
      wanted: { endpoint: owned.endpoint, after: new Map(owned.after), limit },
    };
  }

  #took({ owned, rows: most, isRestart, wanted }: Look, taken: Taken | undefined, tookMs: number): void {
    const { inHand, clock, isPaused } = this.#options;
    const rows = taken?.rows ?? [];
    owned.isAtEnd = rows.length < wanted.limit && taken?.isCut !== true;
    // Behind the others, which may be more than one statement looks through.
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

  /** Asks again then, and not before; undefined: when it is told that there is room. */
  #askAt(owned: OwnedEndpoint, at: number | undefined): void {
    const { clock } = this.#options;
    owned.asking?.[Symbol.dispose]();
    owned.asking = at === undefined ? undefined : clock.after(Math.max(0, at - clock.now()), () => this.want(owned));
    owned.asking?.unref();
  }
}

type Look = {
  owned: OwnedEndpoint;
  rows: number;
  isRestart: boolean;
  wanted: Parameters<ParkingStore['take']>[0][number];
};
