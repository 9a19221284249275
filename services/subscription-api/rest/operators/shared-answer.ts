/** An answer is reused for this many times as long as it took. */
const TIMES_AS_OLD = 20;

/**
 * An answer for all who ask at once, and after it: asked again when it is twenty times as old as it took, so that however many ask, a
 * twentieth of one connection answers. A failure is not kept.
 */
export function sharedAnswer<T>(ask: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let shared: { answer: Promise<T>; isOld: () => boolean } | undefined;
  return async () => {
    if (shared !== undefined && !shared.isOld()) return shared.answer;
    const askedAt = now();
    let until = Infinity;
    const answer = ask();
    const asked = (shared = { answer, isOld: () => now() >= until });
    try {
      await answer;
      until = now() + TIMES_AS_OLD * (now() - askedAt);
    } catch {
      if (shared === asked) shared = undefined;
    }
    return answer;
  };
}
