import { LRUCache } from 'lru-cache';
import { systemClock, type Clock, type Timer } from './clock.ts';

export type ForgettingCacheOptions = {
  /** Limit of entries, or of the sum of sizes where each is set with one; the least recently used one is forgotten. */
  max: number;
  /** An entry that is neither set nor got for this long, in whole milliseconds, is forgotten. */
  unusedMs: number;
  clock?: Pick<Clock, 'now' | 'after'>;
};

const CLEAN_EVERY_MS = 60_000;

/**
 * A bounded cache that forgets unused entries within a minute, even without calls, because memory dumps show everything that a
 * process remembers. `peek` does not count as use.
 */
export function forgettingCache<V extends object>(options: ForgettingCacheOptions): LRUCache<string, V> {
  const { max, unusedMs, clock = systemClock } = options;
  let cleaning: Timer | undefined;
  function cleanLater(): void {
    cleaning ??= clock.after(CLEAN_EVERY_MS, () => {
      cleaning = undefined;
      cache.purgeStale();
      if (cache.size > 0) cleanLater();
    });
    cleaning.unref();
  }
  const cache = new LRUCache<string, V>({
    // Not by `max`, for which the library would allocate all memory at once.
    maxSize: max,
    sizeCalculation: () => 1,
    ttl: unusedMs,
    // Asks the clock each time: the library's own timer would be the system's.
    ttlResolution: 0,
    perf: clock,
    updateAgeOnGet: true,
    onInsert: cleanLater,
  });
  return cache;
}
