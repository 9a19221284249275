import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import type { Deactivation, SettleDeliveries } from './settle-deliveries.ts';

export type SweepOptions = {
  settle: SettleDeliveries;
  onDeactivated: (deactivation: Deactivation) => void;
  intervalMs: number;
  log: Log;
};

/** A run of failures grows old without anything happening: so the rules are applied every now and then, too. */
export function startSweep({ settle, onDeactivated, intervalMs, log }: SweepOptions): AsyncDisposable {
  const stop = new AbortController();
  const swept = (async () => {
    while (!stop.signal.aborted) {
      try {
        await sleep(intervalMs, undefined, { signal: stop.signal });
        (await settle([])).forEach(onDeactivated);
      } catch (error) {
        if (!stop.signal.aborted)
          log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'sweep.failed');
      }
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await swept;
    },
  };
}
