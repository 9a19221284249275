import { Unavailable } from './unavailable.ts';

/** Returns a value for each key, in their order. */
export type LoadMany<K, V> = (keys: K[]) => Promise<readonly V[]>;

export type MicroBatchOptions<K> = {
  /** Identifies a key: equal keys of one batch are queried once. */
  nameOf: (key: K) => string;
  /** Limit of keys in one query. */
  largest?: number;
  /** Limit of the total weight of the keys in one query, not counting the last one. */
  heaviest?: { weigh: (key: K) => number; most: number };
  /** Limit of concurrent queries. */
  concurrency?: number;
};

type QueuedKey<K, V> = { name: string; key: K; answer: PromiseWithResolvers<V> };

/**
 * Batches single look-ups: those that come while `concurrency` queries are under way go into the next one. Uses no timer: an idle
 * system answers at once. A key whose query fails, fails alone; `Unavailable` fails all keys of the batch.
 */
export function microBatch<K, V>(
  loadMany: LoadMany<K, V>,
  { nameOf, largest = 200, heaviest, concurrency = 2 }: MicroBatchOptions<K>,
): (key: K) => Promise<V> {
  const queued = new Map<string, QueuedKey<K, V>>();
  let underWay = 0;

  async function loadWhileQueued(): Promise<void> {
    underWay += 1;
    // A microtask later, so that keys of the same turn of the event loop share a query.
    await Promise.resolve();
    while (queued.size > 0) await loadAll(nextBatch());
    underWay -= 1;
  }

  function nextBatch(): QueuedKey<K, V>[] {
    const batch: QueuedKey<K, V>[] = [];
    let weight = 0;
    for (const each of queued.values()) {
      weight += heaviest?.weigh(each.key) ?? 0;
      if (batch.push(each) === largest || weight >= (heaviest?.most ?? Infinity)) break;
    }
    if (batch.length === queued.size) queued.clear();
    else for (const { name } of batch) queued.delete(name);
    return batch;
  }

  /** Halves a failing batch until the guilty key is alone. One query at a time: 2n − 1 if all n keys are guilty. */
  async function loadAll(batch: QueuedKey<K, V>[]): Promise<void> {
    const halves: QueuedKey<K, V>[][] = [];
    for (let next: QueuedKey<K, V>[] | undefined = batch; next !== undefined; next = halves.pop()) {
      try {
        const answers = await loadMany(next.map(({ key }) => key));
        // `LoadMany` promises a value for each key.
        next.forEach(({ answer }, place) => answer.resolve(answers[place] as V));
      } catch (error) {
        if (error instanceof Unavailable) return failAll([next, ...halves].flat(), error);
        if (next.length === 1) failAll(next, error);
        else halves.push(next.slice(next.length / 2), next.slice(0, next.length / 2));
      }
    }
  }

  return (key) => {
    const name = nameOf(key);
    const known = queued.get(name);
    if (known !== undefined) return known.answer.promise;
    const answer = Promise.withResolvers<V>();
    queued.set(name, { name, key, answer });
    if (underWay < concurrency) void loadWhileQueued();
    return answer.promise;
  };
}

function failAll<K, V>(batch: QueuedKey<K, V>[], error: unknown): void {
  for (const { answer } of batch) answer.reject(error);
}
