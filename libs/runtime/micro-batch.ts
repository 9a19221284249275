/** Answers for many keys at once; a key without an answer is left out. */
export type LoadMany<V> = (keys: string[]) => Promise<Map<string, V>>;

type Waiting<V> = { resolve: (value: V | undefined) => void; reject: (error: unknown) => void };

/**
 * Turns single look-ups into few large ones: what is asked for while `concurrency` queries are under way goes into the
 * next one. No timer: an idle system answers at once. Asking twice for one key costs one.
 */
export function microBatch<V>(
  loadMany: LoadMany<V>,
  { largest = 200, concurrency = 2 }: { largest?: number; concurrency?: number } = {},
): (key: string) => Promise<V | undefined> {
  const waiting = new Map<string, Waiting<V>[]>();
  let underWay = 0;

  async function loadWhileAsked(): Promise<void> {
    underWay += 1;
    // A microtask later, so that keys asked for in one go travel together.
    await Promise.resolve();
    while (waiting.size > 0) await loadNext();
    underWay -= 1;
  }

  async function loadNext(): Promise<void> {
    const batch = [...waiting].slice(0, largest);
    for (const [key] of batch) waiting.delete(key);
    try {
      const found = await loadMany(batch.map(([key]) => key));
      for (const [key, askers] of batch) for (const { resolve } of askers) resolve(found.get(key));
    } catch (error) {
      for (const [, askers] of batch) for (const { reject } of askers) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const askers = waiting.get(key);
      if (askers === undefined) waiting.set(key, [{ resolve, reject }]);
      else askers.push({ resolve, reject });
      if (underWay < concurrency) void loadWhileAsked();
    });
}
