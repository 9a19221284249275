/**
 * Recognises messages that were handled before, so that a redelivery does not repeat its effects. Marks are kept in Redis, and the
 * last ones in memory.
 */
import { Counter } from 'prom-client';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import type { Redis } from '@waybell/runtime/redis';
import type { Outgoing, Rejection } from './messages.ts';

/** Identifies a handled message: `key` recognises a repeat, `fingerprint` shows whether a message with the same key differs. */
export type Mark = { key: string; fingerprint: string };

/** How a step recognises messages that it has handled before. */
export type OncePolicy<M> = {
  keyOf: (message: M) => Mark;
  ttlMs: number;
  /** Returns what a repeat causes; `isSame`: whether its fingerprint is the remembered one. */
  onRepeat: (message: M, isSame: boolean) => readonly Outgoing[] | Rejection;
  isWorthRemembering: (caused: readonly Outgoing[]) => boolean;
};

/**
 * Remembers handled messages; losing a mark costs a duplicate and nothing else. While the store is away, knows only what this process
 * handled last, and logs a warning at most once a minute.
 */
export type Once = {
  /** Returns the fingerprint remembered under each key, or undefined. Never rejects. */
  recall(keys: readonly string[]): Promise<(string | undefined)[]>;
  /** Resolves when the marks are stored, or when storing failed. Never rejects. */
  remember(marks: readonly Mark[], ttlMs: number): Promise<void>;
};

const PREFIX = 'waybell:once:';
/** One command for all marks; a pipeline would cost one each. */
const SET_ALL = `for i = 1, #KEYS do redis.call('set', KEYS[i], ARGV[i + 1], 'px', ARGV[1]) end`;

export function onceInRedis(redis: Redis, { log, metrics }: { log: Log; metrics: Metrics }): Once {
  const failures = countOnceFailures(metrics);
  // Prometheus misses the first increase of a counter that did not exist before.
  for (const operation of ['recall', 'remember']) failures.inc({ operation }, 0);
  const warn = throttledWarning(log, 'redis.away: duplicates are possible');
  const own = new RecentMarks();
  const withoutRedis = (operation: 'recall' | 'remember', messages: number, error: unknown) => {
    failures.inc({ operation }, messages);
    warn(error);
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

/** Exceeds what any step has in hand at once. */
const MOST_RECENT = 4_096;

/**
 * The marks that this process set last, without Redis: after a lost broker connection, exactly these messages are redelivered.
 */
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

/** Counts failures of Redis, which cost duplicates and stop nothing. */
export function countOnceFailures(metrics: Metrics): Counter<'operation'> {
  return new Counter({
    name: 'waybell_once_failures_total',
    help: 'Messages not looked up (recall) or stored (remember) in Redis: possible duplicates',
    labelNames: ['operation'],
    registers: [metrics],
  });
}
