export type InBatchesOptions<I> = {
  /** Limit of items in a batch. */
  largest: number;
  /** Items that share a key never go into one batch, and keep their order. */
  keysOf: (item: I) => readonly string[];
};

type WaitingItem<I, O> = { item: I; resolve: (answer: O) => void; reject: (error: unknown) => void };

/**
 * Batches single calls, one batch at a time: calls during a batch go into the next. Uses no timer: an idle system answers at
 * once. `work` answers in the order of its items; its error rejects each of them.
 */
export function inBatches<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  { largest, keysOf }: InBatchesOptions<I>,
): (item: I) => Promise<O> {
  let waiting: WaitingItem<I, O>[] = [];
  let isWorking = false;

  async function workOff(): Promise<void> {
    isWorking = true;
    // A microtask later, so that calls of the same turn share a batch.
    await Promise.resolve();
    while (waiting.length > 0) await workOn(takeBatch());
    isWorking = false;
  }

  function takeBatch(): WaitingItem<I, O>[] {
    const [batch, left]: [WaitingItem<I, O>[], WaitingItem<I, O>[]] = [[], []];
    const keys = new Set<string>();
    for (const each of waiting) {
      const own = keysOf(each.item);
      const fits = batch.length < largest && !own.some((key) => keys.has(key));
      (fits ? batch : left).push(each);
      // Later waiters for this key wait behind the one that is left.
      for (const key of own) keys.add(key);
    }
    waiting = left;
    return batch;
  }

  async function workOn(batch: readonly WaitingItem<I, O>[]): Promise<void> {
    try {
      const answers = await work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, place) => {
        // `work` promises an answer for each item.
        resolve(answers[place] as O);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void workOff();
    });
}
