import { randomUUID } from 'node:crypto';
import { requireNumbers, requireTimers } from './require-options.ts';

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

const BEGUN_KINDS: readonly unknown[] = ['new', 'in_progress', 'done'] satisfies Begun['kind'][];

/** The store, whose calls all reject where they throw, and resolve where they return nothing. Throws where it is no store. */
export function guardStore(store: Store): Store {
  for (const name of ['begin', 'renew', 'finish', 'fail'] as const)
    if (typeof store[name] !== 'function') throw new TypeError(`"store" has no ${name}`);
  requireTimers({ leaseMs: store.leaseMs });
  return {
    leaseMs: store.leaseMs,
    async begin(id) {
      // A store in plain JavaScript was seen by no compiler.
      const begun = (await store.begin(id)) as Begun | undefined;
      if (begun === undefined || !BEGUN_KINDS.includes(begun.kind))
        throw new TypeError(`"store" began with ${JSON.stringify(begun)}, which is no kind of beginning`);
      return begun;
    },
    renew: async (id, lease) => store.renew(id, lease),
    finish: async (id, lease) => store.finish(id, lease),
    fail: async (id, lease) => store.fail(id, lease),
  };
}

export type MemoryStoreOptions = Pick<StoreTimes, 'keepMs'> & {
  /** 60 s unless given. */
  leaseMs?: number;
  /** How many are remembered; of those that were handled the oldest are forgotten first. 100,000 unless given. */
  limit?: number;
  now?: () => number;
};

/** No other process waits for it to end. */
const MEMORY_LEASE_MS = 60_000;

/** A store of this process alone: enough for one process, and for tests. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { limit = 100_000, keepMs = KEEP_MS, leaseMs = MEMORY_LEASE_MS, now = Date.now } = options;
  requireTimers({ leaseMs });
  requireNumbers({ keepMs, limit });
  /** Ordered by their ends; so are the handled ones. */
  const leases = new Map<string, { lease: string; endsAt: number }>();
  const done = new Map<string, number>();
  const grant = (id: string, lease: string): void => {
    leases.delete(id);
    leases.set(id, { lease, endsAt: now() + leaseMs });
  };
  const forget = (): void => {
    for (const [id, { endsAt }] of leases) {
      if (endsAt > now()) break;
      leases.delete(id);
    }
    for (const [id, at] of done) {
      if (done.size + leases.size <= limit && now() - at <= keepMs) return;
      done.delete(id);
    }
  };
  const has = (id: string, lease: string): boolean => leases.get(id)?.lease === lease;
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      forget();
      if (done.has(id)) return { kind: 'done' };
      if (leases.has(id)) return { kind: 'in_progress' };
      const lease = randomUUID();
      grant(id, lease);
      return { kind: 'new', lease };
    },
    async renew(id, lease) {
      if (has(id, lease)) grant(id, lease);
    },
    async finish(id, lease) {
      forget();
      if (leases.has(id) && !has(id, lease)) throw takenOver(id);
      leases.delete(id);
      done.delete(id);
      done.set(id, now());
      forget();
    },
    async fail(id, lease) {
      if (has(id, lease)) leases.delete(id);
    },
  };
}
