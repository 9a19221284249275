import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { SweepResult } from './sweep.ts';

export type SweepingOptions = {
  /** Runs one sweep. Begins nothing new once the signal is aborted. */
  sweep: (stop: AbortSignal) => Promise<SweepResult>;
  onSwept: (result: SweepResult | 'failed', durationMs: number) => void;
  intervalMs: number;
  log: Log;
};

/**
 * Sweeps at each interval, first after one interval: by then waiting reports are read. The next process announces what the broker
 * has not confirmed at the end.
 */
export function startSweeping({ sweep, onSwept, intervalMs, log }: SweepingOptions): AsyncDisposable {
  const timedSweep = async (stop: AbortSignal) => {
    const beganAt = performance.now();
    let result: SweepResult | 'failed' = 'failed';
    try {
      result = await sweep(stop);
    } finally {
      onSwept(result, performance.now() - beganAt);
    }
  };
  return runEvery(timedSweep, { intervalMs, warning: 'sweep.failed', log });
}
