import type { Log } from '@waybell/runtime/log';
import { Gauge } from 'prom-client';
import type { Metrics } from '@waybell/runtime/metrics';
import { runEvery } from '@waybell/runtime/run-every';
import type { SwitchOff } from './switch-off.ts';

export type SweepOptions = { switchOff: SwitchOff; intervalMs: number; log: Log; metrics: Metrics };

/** Applies the rules at each interval, and logs when more subscriptions are held than before. */
export function startSweep({ switchOff, intervalMs, log, metrics }: SweepOptions): AsyncDisposable {
  const gauge = gaugeHeld(metrics);
  let held = 0;
  async function sweep(): Promise<void> {
    const before = held;
    ({ held } = await switchOff());
    gauge.set(held);
    if (held > before) log.warn({ held }, 'deactivations.held');
  }
  return runEvery(sweep, { intervalMs, warning: 'sweep.failed', log });
}

export function gaugeHeld(metrics: Metrics): Gauge {
  return new Gauge({
    name: 'waybell_deactivations_held',
    help: 'Subscriptions kept on, as so many would go off',
    registers: [metrics],
  });
}
