import { bytes, count } from '@waybell/runtime/environment';
import type { ParkedLimits } from './find-parked-to-end.ts';

/** Limits of what is parked; beyond them the oldest deliveries end as `parked_over_limit`. */
export const parkedSettings = {
  PARKED_MAX_ROWS: count({ per: 'account', default: 1_000_000, desc: 'parked deliveries of one account, at most' }),
  PARKED_MAX_BYTES: bytes({
    per: 'account',
    default: 2 ** 30,
    desc: 'total size of the parked deliveries of one account, at most',
  }),
  PARKED_ALL_MAX_ROWS: count({
    per: 'installation',
    default: 10_000_000,
    desc: 'parked deliveries of all accounts, at most',
  }),
  PARKED_ALL_MAX_BYTES: bytes({
    per: 'installation',
    default: 10 * 2 ** 30,
    desc: 'total size of all parked deliveries, at most',
  }),
};

type ParkedSettings = Record<keyof typeof parkedSettings | 'DELIVER_HELD' | 'DELIVER_HELD_BYTES', number>;

/** Share of what may be held, for parked deliveries beside those from the queues. */
const HELD_PART = 1 / 2;

export function readParked(settings: ParkedSettings): ParkedLimits {
  const held = (most: number) => Math.max(1, Math.floor(most * HELD_PART));
  return {
    held: { rows: held(settings.DELIVER_HELD), bytes: held(settings.DELIVER_HELD_BYTES) },
    ofAccount: { rows: settings.PARKED_MAX_ROWS, bytes: settings.PARKED_MAX_BYTES },
    ofAll: { rows: settings.PARKED_ALL_MAX_ROWS, bytes: settings.PARKED_ALL_MAX_BYTES },
  };
}
