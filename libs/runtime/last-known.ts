import type { Clock } from './clock.ts';
import { Unavailable } from './unavailable.ts';

export type LastKnownOptions = {
  maxAgeMs: number;
  /** Answers remembered at most; the least recently confirmed one makes room. */
  maxEntries: number;
  clock: Clock;
};

/** While away, a look-up whose last answer is known is waited for this long: a server that hangs must not cost its limit each time. */
const PATIENCE_MS = 250;

/**
 * Asks `load` always, and only while it says `Unavailable` answers with what it last said, if that is young enough:
 * a failover of the database must not stop a one-second retry. What is not known stays `Unavailable`.
 */
export function withLastKnown<V>(
  load: (key: string) => Promise<V>,
  { maxAgeMs, maxEntries, clock }: LastKnownOptions,
): (key: string) => Promise<V> {
  const known = new Map<string, { value: V; at: number }>();
  let isAway = false;

  async function ask(key: string): Promise<V> {
    try {
      const value = await load(key);
      isAway = false;
      known.delete(key);
      known.set(key, { value, at: clock.now() });
      if (known.size > maxEntries) for (const oldest of known.keys()) if (known.delete(oldest)) break;
      return value;
    } catch (error) {
      if (error instanceof Unavailable) isAway = true;
      throw error;
    }
  }

  return async (key) => {
    const asked = ask(key);
    const last = known.get(key);
    if (last === undefined || clock.now() - last.at > maxAgeMs) return asked;
    const lastAnswer = asked.catch((error: unknown) => {
      if (error instanceof Unavailable) return last.value;
      throw error;
    });
    return isAway ? Promise.race([lastAnswer, clock.sleep(PATIENCE_MS).then(() => last.value)]) : lastAnswer;
  };
}
