import type { Clock } from './clock.ts';
import { forgettingCache } from './forgetting-cache.ts';
import { Unavailable } from './unavailable.ts';

/** Finds a value for each key, at its place; or the error for which that one is not known. */
export type FindMany<V> = (keys: readonly string[]) => Promise<readonly (V | Error)[]>;

export type LastKnownOptions<V> = {
  maxAgeMs: number;
  /** Limit of remembered answers; the least recently confirmed one is forgotten. */
  maxEntries: number;
  clock: Clock;
  /** Converts an answer that can no longer be confirmed. Default: unchanged. */
  asLastKnown?: (value: V) => V;
  /** Keeps the remembered answer if the new one is the same, which spares V8 the collection of old objects. */
  isSame?: (one: V, other: V) => boolean;
};

/**
 * Limit of a look-up while `load` is away and a last answer is known: a server that hangs must not cost its whole limit each
 * time.
 */
const PATIENCE_MS = 250;

type LastAnswer<V> = { value: V; at: number };

/**
 * Always calls `load`. While that throws `Unavailable`, returns for each key its last answer if that is young enough, and else
 * the `Unavailable`: a failover of the database must not stop a one-second retry. Throws any other error of `load`.
 */
export function withLastKnown<V>(
  load: FindMany<V>,
  { maxAgeMs, maxEntries, clock, asLastKnown = (value) => value, isSame = Object.is }: LastKnownOptions<V>,
): FindMany<V> {
  const known = forgettingCache<LastAnswer<V>>({ max: maxEntries, unusedMs: maxAgeMs + 1, clock });
  let away: Unavailable | undefined;

  function remember(key: string, value: V, at: number): void {
    const last = known.get(key);
    if (last !== undefined && isSame(last.value, value)) last.at = at;
    else known.set(key, { value, at });
  }

  function lastOf(key: string): LastAnswer<V> | undefined {
    const last = known.peek(key);
    return last === undefined || clock.now() - last.at > maxAgeMs ? undefined : last;
  }

  function allLast(keys: readonly string[], unknown: Unavailable): (V | Unavailable)[] {
    return keys.map((key) => {
      const last = lastOf(key);
      return last === undefined ? unknown : asLastKnown(last.value);
    });
  }

  async function ask(keys: readonly string[]): Promise<readonly (V | Error)[]> {
    try {
      const answers = await load(keys);
      away = undefined;
      const at = clock.now();
      keys.forEach((key, place) => {
        const answer = answers[place];
        // `FindMany` promises an answer for each key.
        if (!(answer instanceof Error)) remember(key, answer as V, at);
      });
      return answers;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      away = error;
      return allLast(keys, error);
    }
  }

  return (keys) => {
    const unknown = away;
    if (unknown === undefined || !keys.some((key) => lastOf(key) !== undefined)) return ask(keys);
    return Promise.race([ask(keys), clock.sleep(PATIENCE_MS).then(() => allLast(keys, unknown))]);
  };
}
