import type { Log } from '@waybell/runtime/log';
import { repeatedly } from '@waybell/runtime/repeatedly';
import type { SettleDeliveries } from './settle-deliveries.ts';

export type SweepOptions = { settle: SettleDeliveries; intervalMs: number; log: Log };

/** A run of failures grows old without anything happening: so the rules are applied every now and then, too. */
export function startSweep({ settle, intervalMs, log }: SweepOptions): AsyncDisposable {
  return repeatedly(async () => void (await settle([])), { intervalMs, complaint: 'sweep.failed', log });
}
