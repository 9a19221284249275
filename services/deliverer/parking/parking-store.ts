import type { ParkedRow } from '@waybell/line/messages';

/** The key of a parked row, by which it is deleted. */
export type RowKey = Pick<ParkedRow, 'subscription' | 'createdAt' | 'delivery' | 'attempt' | 'hop'>;

/** `mayBeOpen`: an open request of the attempt is meant, too. What was sent from there, or set aside, is not to end for it. */
export type SoughtKey = RowKey & { mayBeOpen?: boolean };

/** A subscription that has parked rows, or had them a moment ago. */
export type Head = {
  subscription: string;
  account: string;
  shard: number;
  /** The key of account and URL, as `endpointKey` makes it: 32 hexadecimal digits. */
  endpoint: string;
  /** As its owner knew it last. */
  isHung: boolean;
  /** Owners that died since one of its rows was deleted last. */
  deaths: number;
};

/** The rows of an endpoint that are wanted, the oldest first. */
export type Wanted = {
  /** Names the answer. */
  endpoint: string;
  /** The row that each of its subscriptions starts after, or undefined: from the first. */
  after: ReadonlyMap<string, RowKey | undefined>;
  /** Rows, at most. Never more than 1 MiB of bodies, unless the first alone is larger. */
  limit: number;
  /** Only what was made before then, in milliseconds since the epoch, whether or not its time has come; else only what may be attempted now. */
  madeBefore?: number;
};

/** `isCut`: fewer than were wanted, because more would weigh too much. */
export type Taken = { endpoint: string; rows: ParkedRow[]; isCut?: boolean };

/** What is parked for an account; bytes are those of bodies. */
export type Sum = { account: string; rows: number; bytes: number };

/**
 * Shards of an owner; among them those that it took now, and those that are to leave it: of these it takes no more. And how
 * many deliverers live that take some of its actions, itself included.
 */
export type Leased = { owned: number[]; taken: number[]; leaving: number[]; deliverers: number };

/** When the oldest of them was made, Infinity where there is none; and how many others there are. */
export type Newest = { since: number; others: number };

/** What waits for its endpoint, in Postgres. Everything rejects with `Unavailable` while that is away. */
export type ParkingStore = {
  /**
   * Resolves when all of them are committed; what is there already stays as it is. Throws where a subscription never was:
   * the rows of others are committed all the same.
   */
  insert(rows: readonly ParkedRow[]): Promise<void>;
  /** Whether each delivery's attempt is parked, moved at least so often, or is an open request where it may be. */
  has(keys: readonly SoughtKey[]): Promise<boolean[]>;
  /** Deletes rows; those that are gone already are no error. */
  remove(keys: readonly RowKey[]): Promise<void>;

  /**
   * Says that this process lives, and renews, takes and releases shards, so that each process that lives has its share.
   * `keep`: shards of which it still has rows in hand, and so does not release. Returns the shards that are its own now,
   * for `LEASE_MS` from when it was asked; `taken`: those among them that another had, or none.
   */
  lease(owner: string, keep: ReadonlySet<number>): Promise<Leased>;
  /** Gives all shards back. */
  release(owner: string): Promise<void>;

  /** All heads of these shards. */
  heads(shards: readonly number[]): Promise<Head[]>;
  /** Heads of these shards that are new or that something happened to (a row of its own says what) since they were asked for last. */
  dueHeads(shards: readonly number[]): Promise<Head[]>;
  /** Makes the head of a subscription due for its owner, if it has one. */
  wake(subscription: string): Promise<void>;
  /**
   * Reads from where each subscription was read up to. To begin at the first row costs more the more were deleted since the
   * oldest transaction of the server began (a quarter of a second for a million): to be done now and then.
   */
  take(wanted: readonly Wanted[]): Promise<Taken[]>;
  /** Begins at the first row, as said of `take`. When the oldest row of each subscription was made, and in how many milliseconds the first may be taken; absent where there is none. */
  oldest(subscriptions: readonly string[]): Promise<Map<string, { createdAt: number; mayBeTakenInMs: number }>>;
  /** Deletes heads without rows. Returns the subscriptions whose heads are gone. */
  removeEmpty(subscriptions: readonly string[]): Promise<string[]>;
  /** Writes down how endpoints are, for the processes that meet them next. */
  markHung(subscriptions: readonly string[], isHung: boolean): Promise<void>;

  /** Adds what was parked and deleted since; negative where more was deleted. */
  addToSums(changes: readonly Sum[]): Promise<void>;
  /** The sums of all accounts together, of each account of these shards that has any, and the largest of all, by its bytes. */
  sums(shards: readonly number[]): Promise<{ all: Omit<Sum, 'account'>; own: Sum[]; largest?: Sum }>;
  /** The newest rows of these subscriptions, within this number and size. Reads all of them. */
  newestWithin(subscriptions: readonly string[], most: Omit<Sum, 'account'>): Promise<Newest>;
  /** Counts the rows of these shards' accounts anew; repairs heads that are missing or lead to another endpoint. */
  recount(shards: readonly number[]): Promise<void>;
};

export const SHARDS = 32;
export const LEASE_MS = 20_000;
export const RENEW_MS = 5_000;
/** What one look takes at most. */
export const MOST_ROWS = 64;
export const MOST_BYTES = 2 ** 20;

/** Names a place in one word. */
export function placeOf({ subscription, createdAt, delivery, attempt, hop }: RowKey): string {
  return `${subscription} ${createdAt} ${delivery} ${attempt} ${hop}`;
}
