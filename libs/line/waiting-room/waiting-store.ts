/**
 * The waiting room: deliveries that cannot go on now, must not be lost, and must not be in the way. Each waits in the room of its
 * endpoint, or of its subscription while that is held. A process claims a room, takes rows from it, settles them, and releases the room
 * with the time of its next try. See docs/decisions/0006-waiting-rooms.md.
 */
import type { MessageContent, RowKey, WaitingRow } from '../messages.ts';
import type { HoldReason } from '../outcomes.ts';
import { bytes } from '@waybell/runtime/environment';

export type { RowKey, WaitingRow };

/** How long a claim lasts, from before it was asked for; and how often it is renewed. */
export const CLAIM_MS = 20_000;
export const RENEW_MS = 5_000;
/** Rows and bytes of bodies that are taken from a room at once, at most. */
export const MOST_ROWS = 64;
export const MOST_BYTES = 2 ** 20;

/**
 * A row as it was taken. Every put of the same key raises `no`, and a key that is put after its row was settled starts at another
 * number: only the row that was taken is settled, however often that is attempted.
 */
export type TakenKey = RowKey & { no: number };

/**
 * `content`: the delivery, as a message has it; its type is the key of its action. `isForgotten`: its body was deleted for an erasure
 * request, and is empty.
 */
export type TakenRow = TakenKey &
  Pick<WaitingRow, 'why' | 'subscription'> & {
    content: MessageContent & { type: string };
    isForgotten?: boolean;
  };

/** A room claimed by this process. */
export type ClaimedRoom = {
  room: string;
  account?: string;
  /** For how long it had been shut when it was claimed; absent: it is open. */
  shutForMs?: number;
  /** Raised for each change of a subscription that may have rows here; 0: none since the last look. */
  changes: number;
  /** Rows made before this, in milliseconds since the epoch, are beyond what their account may have waiting. */
  overBefore?: number;
  /** Number of processes that died holding it, one after another, without settling a row. */
  crashes: number;
};

/** The rooms to claim. `open`, `shut`: how many endpoints at most; those that changed come first, and in addition. */
export type Claim =
  | { kind: 'endpoints'; open: number; shut: number; exceptAccounts: readonly string[] }
  /** Rooms by name, due or not, that no other process has. */
  | { kind: 'named'; rooms: readonly string[] };

/** The rows of a room to take, the oldest first. */
export type RowsWanted = {
  room: string;
  /** The row to read on after; absent: from the first. */
  after?: RowKey;
  /** Rows at most; and at most `MOST_BYTES` of bodies, unless the first alone is larger. */
  limit: number;
  /**
   * Milliseconds since the epoch: only rows made before then, due or not, but no open request that is under way. Absent: only rows that
   * are due. At most `Number.MAX_SAFE_INTEGER`.
   */
  madeBefore?: number;
  /** Only rows of these subscriptions. */
  subscriptions?: readonly string[];
};

/** `isCut`: more rows would have weighed too much. */
export type TakenRows = { room: string; rows: TakenRow[]; isCut?: boolean };

/** A room to release. */
export type Released = {
  room: string;
  /** When it is to be tried again; absent: when its first row is due. */
  afterMs?: number;
  /** For how long its endpoint has taken nothing; absent: it is open. */
  shutForMs?: number;
};

/** Rows and their size, bodies and properties together, in bytes. */
export type WaitingSum = { rows: number; bytes: number };
/** `holder`: an account. */
export type HeldSum = WaitingSum & { holder: string };
/** `oldestAt`: when the first row was made or put, in milliseconds since the epoch; absent without rows. */
export type WaitingFigures = WaitingSum & { oldestAt?: number };

/** `until`: milliseconds since the epoch; absent: without an end. */
type MovedRows = {
  from: string;
  subscription: string;
  to: string;
  account: string;
  except: readonly RowKey[];
  held?: { why: HoldReason; until?: number; maxAgeMs: number } | undefined;
};

/** Limits of the rows for endpoints: of one account, and of all together. */
export type WaitingLimits = { ofAccount: WaitingSum; allBytes: number };

/** Stores the rows that wait. All methods reject with `Unavailable` while the store is away. */
export type WaitingStore = {
  /**
   * Resolves, when all are committed, with the `no` of each. A row that exists already stays, with another reason and due time.
   */
  put(rows: readonly WaitingRow[]): Promise<number[]>;
  /** Resolves with whether each row exists, and raises its `no`: a process that has taken it cannot settle it any more. */
  retain(keys: readonly RowKey[]): Promise<boolean[]>;
  claim(claim: Claim): Promise<ClaimedRoom[]>;
  /** Renews claims, and resolves with those still held. `lives`: a row of it was settled since; resets the crashes. */
  renew(rooms: readonly { room: string; lives: boolean }[]): Promise<ClaimedRoom[]>;
  /**
   * Reads on after a row. Beginning at the first row costs more the more rows were deleted since the server's oldest transaction
   * began (a quarter of a second for a million): to be done now and then.
   */
  take(wanted: readonly RowsWanted[]): Promise<TakenRows[]>;
  /** Deletes rows that are as they were taken; others are no error. */
  settle(keys: readonly TakenKey[]): Promise<void>;
  /** Makes rows that are as they were taken due after this many milliseconds. Resolves with whether each still is. */
  postpone(keys: readonly TakenKey[], afterMs: number): Promise<boolean[]>;
  /** Deletes rooms without rows, and gives up the others. Resolves with the rooms that are gone. */
  release(rooms: readonly Released[]): Promise<string[]>;

  /** Rooms of endpoints that are shut, and for how long each has been. */
  shutRooms(): Promise<Map<string, number>>;
  /** Subscriptions with rows in a room. Reads all of them. */
  subscriptionsIn(room: string): Promise<string[]>;
  /**
   * Moves rows of a subscription to another room, except these and open requests under way, some at a time. `held`: why they wait there,
   * until when, and until what age; else those that waited for that are due at once. Resolves with how many it moved, or in the same room
   * changed: 0 when none is left.
   */
  move(what: MovedRows): Promise<number>;
  /** Notes that changes up to this number, and the limit up to this time, were dealt with. */
  noteScanned(room: string, seen: Pick<ClaimedRoom, 'changes' | 'overBefore'>): Promise<void>;

  /**
   * Marks rooms whose subscription is no longer held, or held for a shorter time than their rows wait. To be called at intervals:
   * nothing else finds rows that were put during the change.
   */
  lookAfterHeld(): Promise<void>;

  /** Stores the changes of the sums that this process caused. To be called once a second. */
  flushSums(): Promise<void>;
  /** Sums of endpoints' rows: of all together, and of each account that exceeds its limit by more than a hundredth. */
  sumsBeyond(limits: WaitingLimits): Promise<{ all: WaitingSum; beyond: (HeldSum & { mayHave: WaitingSum })[] }>;
  /**
   * Marks the rooms of an account: rows older than the newest ones within a limit are to end. Reads all of its rows, unless they
   * are marked already. Resolves with false if none is older: then the sum was wrong, and is recounted.
   */
  endBeyond(account: string, mayHave: WaitingSum): Promise<boolean>;
  /** Reads each room: to be called at intervals. */
  figures(): Promise<WaitingFigures>;
};

export const waitingSettings = {
  WAITING_ALL_MAX_BYTES: bytes({
    per: 'service',
    default: 10 * 2 ** 30,
    desc: 'size of what waits in Postgres, a tenth of it for an account; beyond, the oldest are given up',
  }),
};

export function readWaiting(settings: Record<keyof typeof waitingSettings, number>): { allBytes: number } {
  return { allBytes: settings.WAITING_ALL_MAX_BYTES };
}
