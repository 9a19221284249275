import type { Clock } from './clock.ts';
import { Unavailable } from './unavailable.ts';

export type LastKnownOptions<V> = {
  maxAgeMs: number;
  /** Limit of remembered answers; the least recently confirmed one is forgotten. */
  maxEntries: number;
  clock: Clock;
  /** Converts an answer that can no longer be confirmed. Default: unchanged. */
  asLastKnown?: (value: V) => V;
};

/**
 * Limit of a look-up while `load` is away and the last answer is known: a server that hangs must not cost its own limit each
 * time.
 */
const PATIENCE_MS = 250;

type LastAnswer<V> = { value: V; at: number };

/**
 * Always calls `load`. While that throws `Unavailable`, returns its last answer if that is young enough: a failover of the
 * database must not stop a one-second retry. Without a last answer, throws `Unavailable`.
 */
export function withLastKnown<V>(
  load: (key: string) => Promise<V>,
  { maxAgeMs, maxEntries, clock, asLastKnown = (value) => value }: LastKnownOptions<V>,
): (key: string) => Promise<V> {
  const known = new Map<string, LastAnswer<V>>();
  let isAway = false;

  function remember(key: string, value: V): void {
    isAway = false;
    // Deleted first, so that the map stays in order of confirmation.
    known.delete(key);
    known.set(key, { value, at: clock.now() });
    if (known.size > maxEntries) for (const oldest of known.keys()) if (known.delete(oldest)) break;
  }

  function lastOf(key: string): LastAnswer<V> | undefined {
    const last = known.get(key);
    if (last === undefined || clock.now() - last.at > maxAgeMs) return undefined;
    return { ...last, value: asLastKnown(last.value) };
  }

  async function ask(key: string): Promise<V> {
    try {
      const value = await load(key);
      remember(key, value);
      return value;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      isAway = true;
      const last = lastOf(key);
      if (last === undefined) throw error;
      return last.value;
    }
  }

  return (key) => {
    const last = isAway ? lastOf(key) : undefined;
    if (last === undefined) return ask(key);
    return Promise.race([ask(key), clock.sleep(PATIENCE_MS).then(() => last.value)]);
  };
}
