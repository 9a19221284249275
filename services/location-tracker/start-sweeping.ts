import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { SweepResult } from './sweep.ts';

export type SweepingOptions = {
  /** One sweep. Once the signal is aborted it begins nothing new. */
  sweep: (stop: AbortSignal) => Promise<SweepResult>;
  onSwept: (result: SweepResult | 'failed', durationMs: number) => void;
  intervalMs: number;
  log: Log;
};

/**
 * Sweeps again and again, first after one interval: by then reports that waited are read. What the broker did not confirm
 * when this ends is announced by the next.
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
  return runEvery(timedSweep, { intervalMs, complaint: 'sweep.failed', log });
}
