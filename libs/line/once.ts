import { Counter } from 'prom-client';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import type { Redis } from '@waybell/runtime/redis';
import type { Outgoing } from './messages.ts';

/** A message is recognised by its key, and told from another with the same key by its fingerprint. */
export type Mark = { key: string; fingerprint: string };

/** How a message is recognised that was handled before, where handling it twice costs a duplicate. */
export type OncePolicy<M> = {
  keyOf: (message: M) => Mark;
  ttlMs: number;
  /** Whether what is remembered under its key means that it was handled before; without it, anything does. */
  isRepeat?: (message: M, known: string) => boolean;
  /** What a message causes whose key is remembered, with the same or with another fingerprint. */
  onRepeat: (message: M, isSame: boolean) => Outgoing[];
  isWorthRemembering: (caused: readonly Outgoing[]) => boolean;
};

/**
 * What was already done, remembered where losing it costs a duplicate and nothing more. While the memory is away this
 * process knows only what it did itself a moment ago; the log says so, at most once a minute.
 */
export type Once = {
  /** What is remembered under each of these keys: a fingerprint, or undefined. Never rejects. */
  recall(keys: readonly string[]): Promise<(string | undefined)[]>;
  /** Resolves when that is remembered, or cannot be. Never rejects. */
  remember(marks: readonly Mark[], ttlMs: number): Promise<void>;
};

const PREFIX = 'waybell:once:';
/** One command for all of them, where a pipeline would cost one each. */
const SET_ALL = `for i = 1, #KEYS do redis.call('set', KEYS[i], ARGV[i + 1], 'px', ARGV[1]) end`;

export function onceInRedis(redis: Redis, { log, metrics }: { log: Log; metrics: Metrics }): Once {
  const failures = countOnceFailures(metrics);
  // Prometheus sees no increase in what begins with its first.
  for (const operation of ['recall', 'remember']) failures.inc({ operation }, 0);
  const complain = throttledWarning(log, 'redis.away: duplicates are possible');
  const own = new RecentMarks();
  const withoutRedis = (operation: 'recall' | 'remember', messages: number, error: unknown) => {
    failures.inc({ operation }, messages);
    complain(error);
  };
  return {
    async recall(keys) {
      try {
        const known = await redis.mget(keys.map((key) => PREFIX + key));
        return known.map((fingerprint, place) => fingerprint ?? own.get(keys[place]));
      } catch (error) {
        withoutRedis('recall', keys.length, error);
        return keys.map((key) => own.get(key));
      }
    },
    async remember(marks, ttlMs) {
      own.add(marks, ttlMs);
      try {
        const [keys, fingerprints] = [
          marks.map(({ key }) => PREFIX + key),
          marks.map(({ fingerprint }) => fingerprint),
        ];
        await redis.eval(SET_ALL, keys.length, ...keys, ttlMs, ...fingerprints);
      } catch (error) {
        withoutRedis('remember', marks.length, error);
      }
    },
  };
}

/** More than any step holds at once. */
const MOST_RECENT = 4_096;

/** What this process remembered last. After a cut of its link to the broker just that comes again, with Redis or without. */
class RecentMarks {
  readonly #marks = new Map<string, { fingerprint: string; until: number }>();

  get(key = ''): string | undefined {
    const known = this.#marks.get(key);
    return known !== undefined && known.until > performance.now() ? known.fingerprint : undefined;
  }

  add(marks: readonly Mark[], ttlMs: number): void {
    const until = performance.now() + ttlMs;
    for (const { key, fingerprint } of marks) {
      this.#marks.delete(key);
      this.#marks.set(key, { fingerprint, until });
    }
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= MOST_RECENT) break;
      this.#marks.delete(oldest);
    }
  }
}

/** Redis away costs duplicates and stops nothing: only this figure shows it. */
export function countOnceFailures(metrics: Metrics): Counter<'operation'> {
  return new Counter({
    name: 'waybell_once_failures_total',
    help: 'Messages for which Redis did not tell (recall) or store (remember) that they were handled: each may let a duplicate through',
    labelNames: ['operation'],
    registers: [metrics],
  });
}
