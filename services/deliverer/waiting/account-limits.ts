import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { readWaiting, waitingSettings, type WaitingLimits } from '@waybell/line/waiting-room/waiting-store';
import { bytes, constant, count } from '@waybell/runtime/environment';

/** Limits of the rows for endpoints; beyond them the oldest deliveries end as `parked_over_limit`. */
export const waitingOfAccounts = {
  WAITING_MAX_ROWS: constant(
    count({ per: 'account', default: 1_000_000, desc: 'deliveries of one account that wait, at most' }),
  ),
  WAITING_MAX_BYTES: constant(
    bytes({
      per: 'account',
      default: 0,
      desc: 'total size of the deliveries of one account that wait, at most; 0: a tenth of WAITING_ALL_MAX_BYTES',
    }),
  ),
  ...waitingSettings,
};

type WaitingSettings = Record<keyof typeof waitingOfAccounts, number>;

/** Share of the held limit for deliveries from rooms, in addition to those from the queues. */
const HELD_PART = 1 / 2;

/** Share of all that may wait, for one account. */
const ACCOUNT_PART = 1 / 10;

export function readWaitingOfAccounts(
  settings: WaitingSettings,
  { messages, bytes: heldBytes }: InHandLimit,
): WaitingLimits & ReturnType<typeof readWaiting> & { held: InHandLimit } {
  const held = (most: number) => Math.max(1, Math.floor(most * HELD_PART));
  return {
    ...readWaiting(settings),
    held: { messages: held(messages), bytes: held(heldBytes) },
    ofAccount: {
      rows: settings.WAITING_MAX_ROWS,
      bytes: settings.WAITING_MAX_BYTES || Math.floor(settings.WAITING_ALL_MAX_BYTES * ACCOUNT_PART),
    },
  };
}
