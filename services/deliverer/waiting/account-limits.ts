import type { HeldLimit } from '@waybell/line/prefetch-budget';
import { readWaiting, waitingSettings } from '@waybell/line/waiting-room/waiting-settings';
import type { WaitingLimits } from '@waybell/line/waiting-room/waiting-store';
import { bytes, count } from '@waybell/runtime/environment';

/** Limits of the rows for endpoints; beyond them the oldest deliveries end as `parked_over_limit`. */
export const waitingOfAccounts = {
  WAITING_MAX_ROWS: count({ per: 'account', default: 1_000_000, desc: 'deliveries of one account that wait, at most' }),
  WAITING_MAX_BYTES: bytes({
    per: 'account',
    default: 2 ** 30,
    desc: 'total size of the deliveries of one account that wait, at most',
  }),
  ...waitingSettings,
};

type WaitingSettings = Record<keyof typeof waitingOfAccounts | 'DELIVER_HELD' | 'DELIVER_HELD_BYTES', number>;

/** Share of the held limit for deliveries from rooms, in addition to those from the queues. */
const HELD_PART = 1 / 2;

export function readWaitingOfAccounts(
  settings: WaitingSettings,
): WaitingLimits & ReturnType<typeof readWaiting> & { held: HeldLimit } {
  const held = (most: number) => Math.max(1, Math.floor(most * HELD_PART));
  return {
    ...readWaiting(settings),
    held: { messages: held(settings.DELIVER_HELD), bytes: held(settings.DELIVER_HELD_BYTES) },
    ofAccount: { rows: settings.WAITING_MAX_ROWS, bytes: settings.WAITING_MAX_BYTES },
  };
}
