import { randomUUID } from 'node:crypto';
import type { Attempted } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted } from '@waybell/delivery-log/testing/log-stand';
import { namedCarrier } from './furnished.ts';
import { openLog } from './log-of-stand.ts';
import { receiver, stack, subscribed, type Account } from './stand.ts';

/** How many there are of each kind, no two alike: any two that are exchanged on a page are seen. */
export const COUNTS = {
  delivered: 21,
  /** Failed attempts of the deliveries that are to be tried again, of each. */
  retried: [2, 3, 3, 5],
  exhausted: 5,
  dropped: 2,
  suppressed: 3,
  /** Given up too, and nobody has their content any more. */
  gone: 1,
  /** Given up, of a subscription that has been off for two days. */
  exhaustedOfOff: 6,
  waiting: 2,
} as const;

export type Counted = {
  carrier: Account;
  name: string;
  /** Its subscriptions: one that fails, one that is off, one that is paused. */
  failing: string;
  off: string;
  paused: string;
  /** A delivery of the one that is off, which was given up; and one that was given up of the one that fails. */
  ofOff: string;
  ofFailing: string;
};

const MINUTE_MS = 60_000;

let furnished: Promise<Counted> | undefined;

/** A carrier with so many of each, all of them 20 minutes ago: the same to all that ask. */
export const aCountedCarrier = (): Promise<Counted> => (furnished ??= furnish('Ten Sleep Carriers'));

async function furnish(name: string): Promise<Counted> {
  const carrier = await namedCarrier(name);
  const { subscription: failing } = await subscribed(carrier, 'order.created');
  const { subscription: off } = await subscribed(carrier, 'order.updated');
  const { subscription: paused } = await subscribed(carrier, 'order.assigned');
  await stack.postgres.query(`update waybell.accounts set created_at = now() - interval '3 days' where guid = $1`, [
    carrier.account,
  ]);
  await stack.postgres.query(
    // Before the one that fails was there, nothing was sent.
    `update waybell.subscriptions set created_at = now() - interval '15 minutes', is_active = guid <> $2,
       deactivated_at = case when guid = $2 then now() - interval '2 days' end,
       deactivation_rule = case when guid = $2 then 'window' end
     where account_guid = $1`,
    [carrier.account, off],
  );
  await using log = await openLog();
  const at = log.now - 20 * MINUTE_MS;
  await log.partitions.ensure([log.now, at]);
  const url = receiver.url('/counted');
  const of = (subscription: string, action: string, attempts: (what: object) => Attempted[]) => {
    const event = randomUUID();
    const delivery = messageGuid(event, subscription);
    const deliveries = [{ subscription, account: carrier.account }];
    const facts = { event, delivery, subscription, action, at, beganAt: at };
    return [aRouted({ event, action, at, receivers: [carrier.account], deliveries }), ...attempts(facts)];
  };
  const times = <T>(count: number, make: () => T[]): T[] => Array.from({ length: count }, make).flat();
  const timedOut = { durationMs: 3_000, reason: 'response_timeout', url } as const;
  const created = (attempts: (what: object) => Attempted[]) => of(failing, 'order.created', attempts);
  const givenUp = times(COUNTS.exhausted + COUNTS.gone, () =>
    created((what) => [anExhausted({ ...what, answer: timedOut })]),
  );
  const givenUpOfOff = times(COUNTS.exhaustedOfOff, () =>
    of(off, 'order.updated', (what) => [anExhausted({ ...what, answer: timedOut })]),
  );
  await log.write([
    ...times(COUNTS.delivered, () =>
      created((what) => [aDelivered({ ...what, answer: { durationMs: 40, status: 204, url } })]),
    ),
    ...COUNTS.retried.flatMap((attempts) =>
      created((what) =>
        Array.from({ length: attempts }, (_none, place) =>
          aFailed({
            ...what,
            attempt: place + 1,
            at: at + place,
            retryAt: wallClockMs() + 60 * MINUTE_MS,
            answer: { durationMs: 12, status: 503, reason: 'http_5xx', url },
          }),
        ),
      ),
    ),
    ...givenUp,
    ...givenUpOfOff,
    ...times(COUNTS.dropped, () => created((what) => [aDropped(what)])),
    ...times(COUNTS.suppressed, () => notSent(carrier, at)),
  ]);
  const deliveryOf = (records: readonly object[]) => (records.at(-1) as { delivery: string }).delivery;
  await stack.postgres.query('update delivery_log.attempts set place = null where delivery = $1', [
    deliveryOf(givenUp),
  ]);
  await carrier.call('POST', `/v1/subscriptions/${paused}/pause`, {});
  for (let heard = 0; heard < COUNTS.waiting; heard += 1) await carrier.hear('order.assigned', { payload: { id: 1 } });
  return {
    carrier,
    name,
    failing,
    off,
    paused,
    ofOff: deliveryOf(givenUpOfOff),
    ofFailing: deliveryOf(givenUp.slice(0, 2)),
  };
}

/** The record of an event that made no delivery. */
function notSent({ account }: Account, at: number) {
  const event = randomUUID();
  const facts = { guid: event, interface: 'carrier', action: 'order.created', occurred_at: new Date(at).toISOString() };
  const body = JSON.stringify({ ...facts, parties: { carrier: account }, payload: { id: 1, status: 'new' } });
  const kept = { accounts: [account], body, contentType: 'application/json' };
  const suppressed = [{ reason: 'no_subscription' as const, account }];
  return [aRouted({ event, at, action: 'order.created', receivers: [account], suppressed, kept })];
}
