/**
 * Remembers which notifications were handled, by `webhook-id`, for all processes that share it. A process that begins one has a
 * lease of it, which `renew` extends while the work lasts; if the process dies, the lease runs out and the next attempt starts
 * from the beginning.
 */
export type Store = {
  /** How long a lease lasts unless renewed, in milliseconds. */
  leaseMs: number;
  begin(id: string): Promise<Begun>;
  /** Does nothing where another process has the lease. */
  renew(id: string, lease: string): Promise<void>;
  /** Records it, also where the lease is over. Rejects where another process has it and is at work too. */
  finish(id: string, lease: string): Promise<void>;
  /** Lets the next attempt start from the beginning. Does nothing if another process has the lease. */
  fail(id: string, lease: string): Promise<void>;
};

export type Begun = { kind: 'new'; lease: string } | { kind: 'in_progress' } | { kind: 'done' };

export type StoreTimes = {
  /** 5 s unless given: retries of the carrier interface end 7 s after the first attempt failed. */
  leaseMs?: number;
  /** How long one that was handled is remembered; a week unless given. */
  keepMs?: number;
};

export const LEASE_MS = 5_000;
export const KEEP_MS: number = 7 * 24 * 60 * 60 * 1_000;

/** Why a store does not record work that ended well. */
export function takenOver(id: string): Error {
  return new Error(
    `the lease of ${id} was over before its work was, and another process began it: it may be done twice`,
  );
}
