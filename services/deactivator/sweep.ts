import type { Log } from '@waybell/runtime/log';
import { repeatedly } from '@waybell/runtime/repeatedly';
import type { Deactivation, SettleDeliveries } from './settle-deliveries.ts';

export type SweepOptions = {
  settle: SettleDeliveries;
  onDeactivated: (deactivation: Deactivation) => void;
  intervalMs: number;
  log: Log;
};

/** A run of failures grows old without anything happening: so the rules are applied every now and then, too. */
export function startSweep({ settle, onDeactivated, intervalMs, log }: SweepOptions): AsyncDisposable {
  const sweep = async () => (await settle([])).forEach(onDeactivated);
  return repeatedly(sweep, { intervalMs, complaint: 'sweep.failed', log });
}
