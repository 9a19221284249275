import { Counter } from 'prom-client';
import { complainer } from '@waybell/runtime/complainer';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import type { Redis } from '@waybell/runtime/redis';
import type { Outgoing } from './messages.ts';

/** How a message is recognised that was handled before, where handling it twice costs a duplicate. */
export type OncePolicy<M> = {
  keyOf: (message: M) => { key: string; fingerprint: string };
  ttlMs: number;
  /** What a message causes whose key is remembered, with the same or with another fingerprint. */
  onRepeat: (message: M, isSame: boolean) => Outgoing[];
  isWorthRemembering: (caused: Outgoing[]) => boolean;
};

/**
 * What was already done, remembered where losing it costs a duplicate and nothing more. While the memory is away it
 * remembers nothing and says so in the log, at most once a minute.
 */
export type Once = {
  /** The fingerprint remembered under `key`, or undefined. */
  recall(key: string): Promise<string | undefined>;
  remember(key: string, fingerprint: string, ttlMs: number): Promise<void>;
};

const PREFIX = 'waybell:once:';

export function onceInRedis(redis: Redis, { log, metrics }: { log: Log; metrics: Metrics }): Once {
  const failures = countOnceFailures(metrics);
  const complain = complainer(log, 'redis.away: duplicates are possible');
  const withoutRedis = (operation: 'recall' | 'remember', error: unknown) => {
    failures.inc({ operation });
    complain(error);
  };
  return {
    async recall(key) {
      try {
        return (await redis.get(PREFIX + key)) ?? undefined;
      } catch (error) {
        withoutRedis('recall', error);
        return undefined;
      }
    },
    async remember(key, fingerprint, ttlMs) {
      try {
        await redis.set(PREFIX + key, fingerprint, 'PX', ttlMs);
      } catch (error) {
        withoutRedis('remember', error);
      }
    },
  };
}

/** Redis away costs duplicates and stops nothing: only this figure shows it. */
export function countOnceFailures(metrics: Metrics): Counter<'operation'> {
  return new Counter({
    name: 'waybell_once_failures_total',
    help: 'Times Redis did not say (recall) or keep (remember) what was done before: each may let a duplicate through',
    labelNames: ['operation'],
    registers: [metrics],
  });
}
