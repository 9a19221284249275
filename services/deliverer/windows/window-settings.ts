import { count, duration } from '@waybell/runtime/environment';
import type { FlowLimits } from './flow.ts';

/** How far one receiver may hold up the others. What each does, and why it is as it is: docs/decisions/0004-flow.md. */
export const windowSettings = {
  DELIVER_WINDOW: count({ default: 64, desc: 'requests under way at once to one origin of one account, at most' }),
  DELIVER_UNPROVEN_PERCENT: count({
    default: 20,
    desc: 'of the slots, at most, for origins that are new or only time out; half of it for the latter',
  }),
  DELIVER_SLOW: duration({ default: 1_000, desc: 'an origin that says nothing for longer gets no more requests' }),
  DELIVER_PATIENCE: duration({
    default: 100,
    desc: 'how long a delivery waits in hand for its origin before it is put aside',
  }),
  DELIVER_SCAN_BUSY: count({ default: 250, desc: 'looks a second, in vain, at deliveries to origins that are busy' }),
  DELIVER_SCAN_HUNG: count({
    default: 50,
    desc: 'looks a second, in vain, at deliveries to origins that only time out',
  }),
  DELIVER_ORIGINS: count({ default: 100_000, desc: 'origins whose ways are remembered' }),
};

/** Of the slots: all that are slow, new or hung together. The other half is for those that answer quickly. */
const SLOW_SHARE = 0.5;
const FORGET_AFTER_MS = 3_600_000;
const SCAN_BURST = 16;
const SLOWEST_PART = 1 / 10;

type WindowSettings = { [name in keyof typeof windowSettings | 'DELIVER_SLOTS']: number };

export function readFlow(settings: WindowSettings): FlowLimits {
  const unproven = settings.DELIVER_UNPROVEN_PERCENT / 100;
  const slots = settings.DELIVER_SLOTS;
  const scan = (perSecond: number) => ({ perSecond, burst: SCAN_BURST, slowestPerSecond: perSecond * SLOWEST_PART });
  return {
    slots,
    shares: { hung: unproven / 2, new: unproven, slow: Math.max(SLOW_SHARE, unproven) },
    maxSize: Math.min(settings.DELIVER_WINDOW, slots),
    slowMs: settings.DELIVER_SLOW,
    patienceMs: settings.DELIVER_PATIENCE,
    maxInHand: 2 * slots,
    maxOrigins: settings.DELIVER_ORIGINS,
    forgetAfterMs: FORGET_AFTER_MS,
    scan: { busy: scan(settings.DELIVER_SCAN_BUSY), hung: scan(settings.DELIVER_SCAN_HUNG) },
  };
}
