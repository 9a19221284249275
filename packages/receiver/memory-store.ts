import { KEEP_MS, type Begun, type Store } from './store.ts';

export type MemoryStoreOptions = {
  /** How many that were handled are remembered; the oldest are forgotten first. 100,000 unless given. */
  limit?: number;
  /** A week unless given. */
  keepMs?: number;
  now?: () => number;
};

/** A store of this process alone: enough for one process, and for tests. */
export function memoryStore({ limit = 100_000, keepMs = KEEP_MS, now = Date.now }: MemoryStoreOptions = {}): Store {
  const working = new Set<string>();
  /** When each was handled, the oldest first. */
  const done = new Map<string, number>();
  const forget = (): void => {
    for (const [id, at] of done) {
      if (done.size <= limit && now() - at <= keepMs) return;
      done.delete(id);
    }
  };
  return {
    leaseMs: Infinity,
    async begin(id): Promise<Begun> {
      forget();
      if (done.has(id)) return { kind: 'done' };
      if (working.has(id)) return { kind: 'in_progress' };
      working.add(id);
      return { kind: 'new', lease: id };
    },
    renew: async () => undefined,
    async finish(id) {
      working.delete(id);
      done.set(id, now());
      forget();
    },
    async fail(id) {
      working.delete(id);
    },
  };
}
