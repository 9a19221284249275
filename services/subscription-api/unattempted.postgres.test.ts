import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { oldestUndelivered } from './failing.ts';
import { findAnything } from '@waybell/delivery-log/read/find-anything';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { deliveryHistory } from '@waybell/delivery-log/read/history';
import type { Outcome } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aRouted, DAY_MS, LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
const told = (delivery: string) => deliveryHistory(stand.store.postgres, { delivery }, 'operator');
const found = (delivery: string) => findAnything(stand.store.postgres, delivery);

async function aSubscription() {
  const account = randomUUID();
  const subscription = await subscribeTo(stand.store.postgres, 'https://a.test/hook', account);
  // A client of its own, as `subscribeTo` makes it.
  return { account, subscription, client: subscription };
}

/** A deliverer's record of a delivery that it rejected: it knows no key of the event. */
const rejected = (what: { event: string; delivery: string; at: number }): Outcome => {
  const of = { interface: 'carrier', action: 'order.created', keys: [], receivers: [] } as const;
  return { kind: 'rejected', ...of, ...what, reason: 'process_killed', detail: 'died' };
};

describe('a delivery without an attempt', () => {
  test('is found by its guid, told as waiting, and counted', async () => {
    const of = await aSubscription();
    const { delivery, event, at } = await stand.logLately([], of);
    expect(await told(delivery)).toMatchObject({ delivery, event, status: 'waiting', attempts: [], client: of.client });
    expect(await found(delivery.toUpperCase())).toMatchObject([{ kind: 'delivery', delivery, at }]);
    const reader = { ...of, interface: 'carrier' as const };
    const page = await findDeliveries(stand.store.postgres, { reader, filter: { statuses: ['waiting'] }, limit: 10 });
    expect(page).toMatchObject({ entries: [{ delivery }] });
    const asked = { sinceMs: at - 1, account: of.account, limit: 10 };
    expect(await oldestUndelivered(stand.store.postgres, asked)).toMatchObject([{ delivery, attempts: 0 }]);
  });

  test('is found while it waits for its endpoint', async () => {
    const of = await aSubscription();
    const { delivery, event, at } = await stand.logLately([], of);
    const { subscription } = of;
    await putDelivery(stand.store.postgres, aDelivery({ guid: delivery, event, subscription, createdAt: at }));
    expect(await told(delivery)).toMatchObject({ status: 'waiting', waiting: { why: 'hung', since: at + 5_000 } });
  });

  test('is found where it was rejected, also weeks later', async () => {
    const at = START - 20 * DAY_MS;
    const { delivery, event } = await stand.log([], { ...(await aSubscription()), at });
    await stand.write([rejected({ delivery, event, at: at + 20 })]);
    expect(await told(delivery)).toMatchObject({ at, status: 'rejected', why: { reason: 'process_killed' } });
    expect(await found(delivery)).toMatchObject([{ kind: 'delivery', delivery, at }]);
  });

  test('is found among all that one batch made, by every guid, and by no other', async () => {
    const [account, at] = [randomUUID(), wallClockMs()];
    const subscriptions = Array.from({ length: 50 }, () => randomUUID());
    const events = Array.from({ length: 40 }, () => randomUUID());
    const of = { at, receivers: [account], deliveries: subscriptions.map((guid) => ({ subscription: guid, account })) };
    stand.now = at;
    await stand.write(events.map((event) => aRouted({ ...of, event })));
    stand.now = START;
    for (const [place, subscription] of subscriptions.slice(0, 10).entries()) {
      const event = events[3 * place] ?? '';
      const delivery = messageGuid(event, subscription);
      expect(await told(delivery)).toMatchObject({ delivery, event, subscription });
      // Begins with the same bytes.
      expect(await told(`${delivery.slice(0, 8)}${randomUUID().slice(8)}`)).toBeUndefined();
    }
  });

  test('is looked for in its chunk and its day, however much there was', async () => {
    const { delivery } = await stand.logLately([], await aSubscription());
    await stand.partitions.ensure([START]);
    await stand.rows(
      `insert into delivery_log.events (at, event, part, account, action, keys, subscriptions, chunk)
       select to_timestamp($1::float8 / 1000) + n * interval '1 ms', gen_random_uuid(), 0, gen_random_uuid(), 'carrier.order.created', '{}',
         array[gen_random_uuid()], n from generate_series(1, 20000) n`,
      [START],
    );
    await stand.rows('analyze delivery_log.events, delivery_log.chunks');
    const plans = watchPlans(stand.store.postgres);
    expect(await deliveryHistory(plans, { delivery }, 'operator')).toMatchObject({ delivery });
    expect(plans.rowsLookedAt()).toBeLessThan(1_000);
  });
});

test('a guid that is not in the log is found nowhere', async () => {
  await stand.logLately([]);
  expect(await told(randomUUID())).toBeUndefined();
  expect(await found(randomUUID())).toEqual([]);
});
