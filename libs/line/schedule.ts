import { durations } from '@waybell/runtime/environment';
import type { InterfaceName } from './outcomes.ts';

/** When a failed attempt is made again (shipper-webhooks and carrier-webhooks, Limits). Known to whoever declares the retry queues and to whoever fills them. */
export const scheduleSettings = {
  SHIPPER_RETRY_DELAYS: durations({
    default: [60_000, 60_000, 60_000, 60_000, 60_000],
    desc: 'delays before the 1st, 2nd, … retry of a shipper notification',
  }),
  CARRIER_RETRY_DELAYS: durations({
    default: [1_000, 2_000, 4_000],
    desc: 'delays before the 1st, 2nd, … retry of a carrier notification',
  }),
};

export type Schedule = Record<InterfaceName, readonly number[]>;

export function readSchedule(settings: { SHIPPER_RETRY_DELAYS: number[]; CARRIER_RETRY_DELAYS: number[] }): Schedule {
  return { shipper: settings.SHIPPER_RETRY_DELAYS, carrier: settings.CARRIER_RETRY_DELAYS };
}
