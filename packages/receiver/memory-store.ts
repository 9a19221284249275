import { randomUUID } from 'node:crypto';
import { KEEP_MS, type Begun, type Store, type StoreTimes } from './store.ts';

export type MemoryStoreOptions = Pick<StoreTimes, 'keepMs'> & {
  /** 60 s unless given. */
  leaseMs?: number;
  /** How many that were handled are remembered; the oldest are forgotten first. 100,000 unless given. */
  limit?: number;
  now?: () => number;
};

/** No other process waits for it to end: only work that never ends is given up by it, not a process that stood still. */
const MEMORY_LEASE_MS = 60_000;

/** A store of this process alone: enough for one process, and for tests. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { limit = 100_000, keepMs = KEEP_MS, leaseMs = MEMORY_LEASE_MS, now = Date.now } = options;
  const leases = new Map<string, { lease: string; endsAt: number }>();
  /** When each was handled, the oldest first. */
  const done = new Map<string, number>();
  const forget = (): void => {
    for (const [id, at] of done) {
      if (done.size <= limit && now() - at <= keepMs) return;
      done.delete(id);
    }
  };
  const has = (id: string, lease: string): boolean => leases.get(id)?.lease === lease;
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      forget();
      if (done.has(id)) return { kind: 'done' };
      if ((leases.get(id)?.endsAt ?? -Infinity) > now()) return { kind: 'in_progress' };
      const lease = randomUUID();
      leases.set(id, { lease, endsAt: now() + leaseMs });
      return { kind: 'new', lease };
    },
    async renew(id, lease) {
      if (has(id, lease)) leases.set(id, { lease, endsAt: now() + leaseMs });
    },
    async finish(id, lease) {
      if (!has(id, lease)) return;
      leases.delete(id);
      done.set(id, now());
      forget();
    },
    async fail(id, lease) {
      if (has(id, lease)) leases.delete(id);
    },
  };
}
