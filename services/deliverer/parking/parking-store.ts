import type { ParkedRow } from '@waybell/line/messages';

/** The key of a parked row, by which it is deleted. */
export type RowKey = Pick<ParkedRow, 'subscription' | 'createdAt' | 'delivery' | 'attempt' | 'hop'>;

/**
 * `mayBeOpen`: an open request for the attempt counts as well; not for a delivery that an open request sent, or that was
 * set aside.
 */
export type SoughtKey = RowKey & { mayBeOpen?: boolean };

/** A subscription that has parked rows, or had them a moment ago. */
export type ParkedHead = {
  subscription: string;
  account: string;
  shard: number;
  /** The key of account and URL, as `endpointKey` makes it: 32 hexadecimal digits. */
  endpoint: string;
  /** Whether the endpoint hung, as its owner knew last. */
  isHung: boolean;
  /** Number of owners that died since a row was last deleted. */
  deaths: number;
};

/** Which rows of an endpoint to take, the oldest first. */
export type RowsWanted = {
  /** Returned with the rows. */
  endpoint: string;
  /** For each subscription the row to read on after; undefined: from the first. */
  after: ReadonlyMap<string, RowKey | undefined>;
  /** Rows at most; and at most 1 MiB of bodies, unless the first alone is larger. */
  limit: number;
  /** In milliseconds since the epoch: only rows made before then, due or not. Absent: only rows that are due. */
  madeBefore?: number;
};

/** `isCut`: more rows would have weighed too much. */
export type TakenRows = { endpoint: string; rows: ParkedRow[]; isCut?: boolean };

/** Number of rows parked for an account, and bytes of their bodies. */
export type ParkedSum = { account: string; rows: number; bytes: number };

/**
 * Shards of an owner; among them those that it took just now, and those to be released once no rows are in hand.
 * `deliverers`: how many are alive that take some of its actions, itself included.
 */
export type LeaseResult = { owned: number[]; taken: number[]; leaving: number[]; deliverers: number };

/** Creation time of the oldest among the newest rows, Infinity without rows; and the number of older rows. */
export type NewestRows = { since: number; others: number };

/** Stores deliveries that wait for their endpoint, in Postgres. All methods reject with `Unavailable` while that is away. */
export type ParkingStore = {
  /**
   * Resolves when all rows are committed; one that is there already stays as it is. Throws if a subscription never existed:
   * the rows of others are committed all the same.
   */
  insert(rows: readonly ParkedRow[]): Promise<void>;
  /** Whether each attempt is parked, with at least this hop, or has an open request if `mayBeOpen`. */
  has(keys: readonly SoughtKey[]): Promise<boolean[]>;
  /** Deletes rows; a missing one is no error. */
  remove(keys: readonly RowKey[]): Promise<void>;

  /**
   * Marks this process as alive, and renews, takes and releases shards, so that each living process has its share. `keep`:
   * shards with rows in hand, which are not released. The result holds for `LEASE_MS` from when it was asked for.
   */
  lease(owner: string, keep: ReadonlySet<number>): Promise<LeaseResult>;
  /** Releases all shards. */
  release(owner: string): Promise<void>;

  /** All heads of these shards. */
  heads(shards: readonly number[]): Promise<ParkedHead[]>;
  /** Heads of these shards that are new or have changed since they were last asked for. */
  dueHeads(shards: readonly number[]): Promise<ParkedHead[]>;
  /** Makes the head of a subscription due, if there is one. */
  wake(subscription: string): Promise<void>;
  /**
   * Reads each subscription on after a row. Beginning at the first row costs more the more rows were deleted since the
   * server's oldest transaction began (a quarter of a second for a million): to be done now and then.
   */
  take(wanted: readonly RowsWanted[]): Promise<TakenRows[]>;
  /**
   * When each subscription's oldest row was made, and in how many milliseconds the first row is due; absent without rows.
   * Begins at the first row: see `take`.
   */
  oldest(subscriptions: readonly string[]): Promise<Map<string, { createdAt: number; mayBeTakenInMs: number }>>;
  /** Deletes heads without rows. Returns the subscriptions whose heads are gone. */
  removeEmpty(subscriptions: readonly string[]): Promise<string[]>;
  /** Stores whether endpoints hang, for the processes that meet them next. */
  markHung(subscriptions: readonly string[], isHung: boolean): Promise<void>;

  /** Adds changes to the sums; negative if more rows were deleted. */
  addToSums(changes: readonly ParkedSum[]): Promise<void>;
  /** Sums of all accounts together, of each account of these shards with rows, and of the largest account by bytes. */
  sums(shards: readonly number[]): Promise<{ all: Omit<ParkedSum, 'account'>; own: ParkedSum[]; largest?: ParkedSum }>;
  /** The newest rows of these subscriptions within a number and a size. Reads all rows. */
  newestWithin(subscriptions: readonly string[], most: Omit<ParkedSum, 'account'>): Promise<NewestRows>;
  /** Counts the rows of these shards' accounts again; makes missing heads. */
  recount(shards: readonly number[]): Promise<void>;
};

export const SHARDS = 32;
export const LEASE_MS = 20_000;
export const RENEW_MS = 5_000;
/** Rows and bytes that are taken at once, at most. */
export const MOST_ROWS = 64;
export const MOST_BYTES = 2 ** 20;

/** The key as one string. */
export function placeOf({ subscription, createdAt, delivery, attempt, hop }: RowKey): string {
  return `${subscription} ${createdAt} ${delivery} ${attempt} ${hop}`;
}
