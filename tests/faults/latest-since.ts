import type { Ledger } from '../testing/ledger.ts';
import { scheduleOf } from '../testing/schedule-of.ts';
import type { Stage } from './stage.ts';

/**
 * The longest, in seconds, that a first attempt came after the publishing of its event, or a retry after its delay: of the
 * requests that were due from `since` on. Endpoints that never answer with success are left out, as their deliveries wait.
 */
export function latestSince(since: number, { stack, receiver }: Stage, ledger: Ledger): number {
  const schedule = scheduleOf(stack);
  const lastAt = new Map<string, number>();
  let latestMs = 0;
  for (const { path, headers, at } of receiver.received) {
    const [delivery, attempt] = [String(headers['webhook-id']), Number(headers['x-webhook-attempt'])];
    lastAt.set(`${delivery} ${attempt}`, at);
    const [, side, folder] = path.split('/');
    const delays = side === 'shipper' ? schedule.shipper : schedule.carrier;
    const failedAt = lastAt.get(`${delivery} ${attempt - 1}`) ?? NaN;
    const dueAt = attempt === 1 ? (ledger.sentAt(delivery) ?? NaN) : failedAt + (delays[attempt - 2] ?? NaN);
    // Never where it is not known, as of an event before this ledger.
    if (dueAt >= since && folder !== 'dead') latestMs = Math.max(latestMs, at - dueAt);
  }
  return latestMs / 1_000;
}
