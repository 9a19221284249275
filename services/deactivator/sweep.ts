import type { Log } from '@waybell/runtime/log';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { repeatedly } from '@waybell/runtime/repeatedly';
import type { SwitchOff } from './switch-off.ts';

export type SweepOptions = { switchOff: SwitchOff; intervalMs: number; log: Log; metrics: Metrics };

/** Applies the rules again and again, and says so where more are held than before. */
export function startSweep({ switchOff, intervalMs, log, metrics }: SweepOptions): AsyncDisposable {
  let held = 0;
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_deactivations_held',
      help: 'Subscriptions that a rule would switch off, held as so many are at once',
    },
    () => [{ value: held }],
  );
  async function sweep(): Promise<void> {
    const before = held;
    ({ held } = await switchOff());
    if (held > before) log.warn({ held }, 'deactivations.held');
  }
  return repeatedly(sweep, { intervalMs, complaint: 'sweep.failed', log });
}
