import { randomUUID } from 'node:crypto';
import { requireNumbers, requireTimers } from './require-options.ts';
import { KEEP_MS, takenOver, type Begun, type Store, type StoreTimes } from './store.ts';

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
