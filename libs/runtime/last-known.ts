import type { Clock } from './clock.ts';
import { Unavailable } from './unavailable.ts';

export type LastKnownOptions<V> = {
  maxAgeMs: number;
  /** Answers remembered at most; the least recently confirmed one makes room. */
  maxEntries: number;
  clock: Clock;
  /** Turns an answer that can no longer be confirmed into the one given; left out, it is given unchanged. */
  asLastKnown?: (value: V) => V;
};

/** While away, a look-up whose last answer is known is waited for this long: a server that hangs must not cost its limit each time. */
const PATIENCE_MS = 250;

type LastAnswer<V> = { value: V; at: number };

/**
 * Asks `load` always, and only while it says `Unavailable` answers with what it last said, if that is young enough:
 * a failover of the database must not stop a one-second retry. What is not known stays `Unavailable`.
 */
export function withLastKnown<V>(
  load: (key: string) => Promise<V>,
  { maxAgeMs, maxEntries, clock, asLastKnown = (value) => value }: LastKnownOptions<V>,
): (key: string) => Promise<V> {
  const known = new Map<string, LastAnswer<V>>();
  let isAway = false;

  function remember(key: string, value: V): void {
    isAway = false;
    // Taken out first: the one that makes room is the first in the map.
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
