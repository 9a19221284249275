import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Ends a test that will never pass; does not measure. */
const LIMIT_MS = 120_000;
/** Bounds of the pause between two looks: it is a tenth of what was waited, as each look costs CPU that what is awaited needs. */
const PAUSE_MS = { least: 20, most: 250 };

type Look<T> = () => T | undefined | false | Promise<T | undefined | false>;

/**
 * Waits until `look` returns something (not undefined, not false) and resolves with it. Looks again if `look` throws. At the
 * limit, throws an error that says what was seen last; but goes on while the figure that `follow` returns, if given, changes.
 */
export async function until<T>(what: string, look: Look<T>, follow = (): unknown => undefined): Promise<T> {
  let figure = follow();
  const beganAt = performance.now();
  for (let deadline = performance.now() + LIMIT_MS; ;) {
    // Before `look`: a process that stood still until the limit has not looked since.
    const isLast = performance.now() > deadline;
    let seen: unknown;
    try {
      const found = await answerOf(look);
      if (found !== undefined && found !== false) return found;
      seen = found;
    } catch (error) {
      seen = error;
    }
    if (follow() !== figure) {
      figure = follow();
      deadline = performance.now() + LIMIT_MS;
    } else if (isLast) {
      const last = [seen, figure].filter((each) => each !== undefined).map((each) => inspect(each));
      throw new Error(
        `waited ${LIMIT_MS / 1_000} s without success until ${what}; seen last: ${last.join(', ') || 'nothing'}`,
      );
    }
    await sleep(Math.min(Math.max((performance.now() - beganAt) / 10, PAUSE_MS.least), PAUSE_MS.most));
  }
}

async function answerOf<T>(look: Look<T>): Promise<T | undefined | false> {
  const answered = new AbortController();
  const limit = sleep(LIMIT_MS, undefined, { signal: answered.signal, ref: false });
  try {
    // The limit is watched even if `look` throws at once.
    return await Promise.race([(async () => look())(), limit.then(() => Promise.reject(new Error('no answer')))]);
  } finally {
    answered.abort();
  }
}
