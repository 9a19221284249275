import type { PublishingClaimed } from '@waybell/line/claimed/publish-claimed';
import type { Log } from '@waybell/runtime/log';
import { repeatedly } from '@waybell/runtime/repeatedly';
import type { SettleDeliveries } from './settle-deliveries.ts';

export type SweepOptions = {
  settle: SettleDeliveries;
  /** Tells the delivery log what was switched off. */
  telling: Pick<PublishingClaimed, 'publishDue'>;
  intervalMs: number;
  log: Log;
};

/** A run of failures grows old without anything happening: so the rules are applied every now and then, too. */
export function startSweep({ settle, telling, intervalMs, log }: SweepOptions): AsyncDisposable {
  const sweep = async () => {
    await settle([]);
    await telling.publishDue();
  };
  return repeatedly(sweep, { intervalMs, complaint: 'sweep.failed', log });
}
