import type { Ledger } from '../testing/ledger.ts';
import { scheduleOf } from '../testing/schedule-of.ts';
import type { Stage } from './stage.ts';

/** What is less is no lateness: a small machine is as slow by itself. */
const LATE_MS = 1_000;

export type Lateness = {
  /** The longest that an event waited for its first attempt, or a retry beyond its delay. */
  mostMs: number;
  /** When the last request was due that was late; undefined where none was. */
  lastDueAt: number | undefined;
};

/** Of the requests that were due from `since` on. Endpoints that never answer with success are left out: their deliveries are parked. */
export function latenessSince(since: number, { stack, receiver }: Stage, ledger: Ledger): Lateness {
  const schedule = scheduleOf(stack);
  const lastAt = new Map<string, number>();
  const lateness: Lateness = { mostMs: 0, lastDueAt: undefined };
  for (const { path, headers, at } of receiver.received) {
    const [delivery, attempt] = [String(headers['webhook-id']), Number(headers['x-webhook-attempt'])];
    lastAt.set(`${delivery} ${attempt}`, at);
    const [, side, folder] = path.split('/');
    const delays = side === 'shipper' ? schedule.shipper : schedule.carrier;
    const before = lastAt.get(`${delivery} ${attempt - 1}`) ?? NaN;
    const dueAt = attempt === 1 ? (ledger.sentAt(delivery) ?? NaN) : before + (delays[attempt - 2] ?? NaN);
    // Also where it is not known: of an event before this ledger.
    if (!(dueAt >= since) || folder === 'dead') continue;
    lateness.mostMs = Math.max(lateness.mostMs, at - dueAt);
    if (at - dueAt > LATE_MS) lateness.lastDueAt = Math.max(lateness.lastDueAt ?? 0, dueAt);
  }
  return lateness;
}
