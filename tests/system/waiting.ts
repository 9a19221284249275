import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { DEAD_ACTION, deadShipper } from '../testing/dead-shipper.ts';
import { hang, type Hang } from '../testing/hang.ts';
import { waitingOf } from '../testing/put-by-hand.ts';
import type { Client } from '../testing/test-stack.ts';
import { IMPATIENT, receiver, settingsOf, stack } from './stand.ts';

/** More than are under way at once. */
const HEARD = 40;
const WAITING_OF_THEM = 10;
/** A dead endpoint is asked now and then. */
const LEAST_LEFT = 0.9;
const LIMIT = 50;
const HEARD_OVER_LIMIT = 120;
const NEWEST = 20;

type HungCarrier = { client: Client; subscription: string; hung: Hang };

/** Deliveries that wait for an endpoint, and their results; this many. */
export function waiting(count: number): void {
  describe(`${count} deliveries that wait for an endpoint`, () => {
    settingsOf('deliverer', () => IMPATIENT);

    test('hold up none of those that wait for another, once that answers again', async () => {
      const dead = await deadShipper({ stack, receiver, waiting: count });
      const { client, subscription, hung } = await hungCarrier();
      for (let heard = 0; heard < HEARD; heard += 1) await client.hear('order.created');
      await until('some of them wait', async () => (await waitingOf(stack.postgres, subscription)) > WAITING_OF_THEM);
      hung.answer(200);
      await until('all of them have come', () => deliveriesAt(hung.path).size === HEARD);
      expect(await waitingOf(stack.postgres, dead.subscription)).toBeGreaterThan(LEAST_LEFT * count);
      await dead.client.unsubscribe(DEAD_ACTION);
      dead.hung.answer(500);
    });

    test('arrive at the new callback URL once that is replaced', async () => {
      const { client, hung } = await deadShipper({ stack, receiver, waiting: count });
      const path = `/${randomUUID()}`;
      await client.subscribe(DEAD_ACTION, receiver.url(path));
      // Requests on their way to the old one are attempted again.
      hung.answer(500);
      const come = () => deliveriesAt(path).size;
      await until('all of them have come', () => come() === count, come);
    });

    test('are dropped as unsubscribed once the subscription is ended', async () => {
      const { client, subscription, hung } = await deadShipper({ stack, receiver, waiting: count });
      await client.unsubscribe(DEAD_ACTION);
      hung.answer(500);
      let dropped = 0;
      await until(
        'all of them are dropped',
        async () => (dropped = (await endedAs(subscription, 'unsubscribed')).size) === count,
        () => dropped,
      );
      await until('none of them is left', async () => (await waitingOf(stack.postgres, subscription)) === 0);
      expect((await endedAs(subscription, 'unsubscribed', 'dropped')).size).toBe(count);
    });
  });
}

export function waitingOverLimit(): void {
  describe('where an account has more waiting than it may', () => {
    // Long enough that none is exhausted, which would switch the subscription off, before they all wait.
    settingsOf('deliverer', () => ({
      ...IMPATIENT,
      WAITING_MAX_ROWS: String(LIMIT),
      CARRIER_RESPONSE_LIMIT: '60s',
    }));

    test('the oldest end as parked_over_limit, the others come, and the subscription stays on', async () => {
      const { client, subscription, hung } = await hungCarrier();
      const deliveries: string[] = [];
      for (let count = 0; count < HEARD_OVER_LIMIT; count += 1) {
        deliveries.push(messageGuid((await client.hear('order.created')).guid, subscription));
      }
      const overLimit = () => endedAs(subscription, 'parked_over_limit', 'exhausted');
      await until('some have ended, and no more wait than may', async () => {
        return (
          (await overLimit()).size > 0 && (await newerThanOldestWaiting(subscription, deliveriesAt(hung.path))) < LIMIT
        );
      });
      hung.answer(200);
      const ended = await until('each has come, or ended before', async () => {
        const [over, came] = [await overLimit(), deliveriesAt(hung.path)];
        return deliveries.every((delivery) => over.has(delivery) || came.has(delivery)) && over;
      });
      expect(ended.size).toBeGreaterThan(0);
      expect(deliveries.slice(-NEWEST).filter((delivery) => ended.has(delivery))).toEqual([]);
      const { body } = await client.call('GET', '/v1/webhooks/order.created/subscriptions/');
      expect(body).toMatchObject([{ is_active: true }]);
    });
  });
}

async function hungCarrier(): Promise<HungCarrier> {
  const client = await stack.client('carrier');
  const hung = hang(receiver, `/${randomUUID()}`);
  await client.subscribe('order.created', receiver.url(hung.path));
  return { client, hung, subscription: await stack.subscriptionAt(receiver.url(hung.path)) };
}

function deliveriesAt(path: string): Set<string> {
  return new Set(receiver.at(path).map(({ headers }) => String(headers['webhook-id'])));
}

/**
 * Deliveries made in the same millisecond as the oldest that is kept are kept, too (docs/decisions/0006-waiting-rooms.md), and
 * sent ones as long as they have no answer.
 */
async function newerThanOldestWaiting(subscription: string, sent: ReadonlySet<string>): Promise<number> {
  const { rows } = await stack.postgres.query<{ count: number }>(
    `with unsent as (select made_at from waybell.deliverer_waiting where subscription = $1 and not split_part(id, ' ', 1) = any ($2))
     select count(*)::int from unsent where made_at > (select min(made_at) from unsent)`,
    [subscription, [...sent]],
  );
  return rows[0]?.count ?? 0;
}

/** The deliveries of a subscription that ended for this reason. */
async function endedAs(subscription: string, reason: string, kind = 'dropped'): Promise<Set<string>> {
  const { rows } = await stack.postgres.query<{ delivery: string }>(
    'select delivery from delivery_log.attempts where subscription = $1 and kind = $2 and reason = $3',
    [subscription, kind, reason],
  );
  return new Set(rows.map(({ delivery }) => delivery));
}
