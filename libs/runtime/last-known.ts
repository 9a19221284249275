import { Unavailable } from './unavailable.ts';

export type LastKnownOptions = {
  maxAgeMs: number;
  /** Answers remembered at most; the least recently confirmed one makes room. */
  maxEntries: number;
  now: () => number;
};

/**
 * Asks `load` always, and only while it says `Unavailable` answers with what it last said, if that is young enough:
 * a failover of the database must not stop a one-second retry. What is not known stays `Unavailable`.
 */
export function withLastKnown<V>(
  load: (key: string) => Promise<V>,
  { maxAgeMs, maxEntries, now }: LastKnownOptions,
): (key: string) => Promise<V> {
  const known = new Map<string, { value: V; at: number }>();
  return async (key) => {
    try {
      const value = await load(key);
      known.delete(key);
      known.set(key, { value, at: now() });
      if (known.size > maxEntries) for (const oldest of known.keys()) if (known.delete(oldest)) break;
      return value;
    } catch (error) {
      const last = known.get(key);
      if (!(error instanceof Unavailable) || last === undefined || now() - last.at > maxAgeMs) throw error;
      return last.value;
    }
  };
}
