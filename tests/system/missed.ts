import { randomInt, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import type { Client } from '../testing/test-stack.ts';
import { ask, type Timeline } from '../testing/told.ts';
import { CARRIER_ATTEMPTS, receiver, stack } from './stand.ts';

const ACTION = 'order.updated';
const SINCE = '2026-11-20T00:00:00Z';

/** An order of this id, with figures that no parser may touch. */
const payloadOf = (id: number) =>
  `{"id":${id},"status":"new","price":1.50,"weight":12345678901234567890,"note":"5 \\u20ac"}`;

/** Publishes it digit for digit, and resolves with the guid of the event once its result is known. */
async function hear(account: string, id: number, knownBy: Client): Promise<string> {
  const guid = randomUUID();
  const envelope = { guid, interface: 'carrier', action: ACTION, occurred_at: '2026-11-20T09:30:00.123456Z' };
  const parties = { carrier: account };
  const body = JSON.stringify({ ...envelope, parties, payload: 0 }).replace(/0\}$/, `${payloadOf(id)}}`);
  await stack.upstream.publishRaw(`carrier.${ACTION}`, Buffer.from(body), guid);
  await until('it is known', async () => (await verdictsOf(knownBy, id)).length > 0);
  return guid;
}

async function verdictsOf(client: Client, id: number) {
  const { objects } = await ask<Timeline>(client, `/v1/timeline/${id}`);
  return objects.flatMap(({ verdicts }) => verdicts);
}

async function subscribeAt(client: Client, path: string): Promise<string> {
  await client.subscribe(ACTION, receiver.url(path));
  return stack.subscriptionAt(receiver.url(path));
}

/** Subscribes where every attempt fails, and waits until that has switched the subscription off. */
async function switchedOff(client: Client): Promise<{ subscription: string; path: string }> {
  const path = `/${randomUUID()}`;
  receiver.answer(path, 500);
  const subscription = await subscribeAt(client, path);
  await client.hear(ACTION);
  await until('it is off', async () => {
    const all = await ask<{ is_active: boolean }[]>(client, `/v1/webhooks/${ACTION}/subscriptions/`);
    return all.every(({ is_active }) => !is_active);
  });
  return { subscription, path };
}

async function replay(client: Client, more: object): Promise<unknown> {
  const { body } = await client.call('POST', '/v1/replays', { action: ACTION, since: SINCE, ...more });
  return body;
}

/** Counts until it is this: what has happened is written down soon after. */
async function untilCounted(client: Client, body: object, expected: object): Promise<void> {
  let counted: unknown;
  const isCounted = async () =>
    isDeepStrictEqual((counted = await replay(client, { dry_run: true, ...body })), expected);
  await until('it is counted', isCounted).catch(() => undefined);
  expect(counted).toEqual(expected);
}

const newId = () => randomInt(2 ** 47, 2 ** 48 - 1);

export function missed(): void {
  describe('an event for which there was no subscription', () => {
    test('is told with what became of that subscription', async () => {
      const client = await stack.client('carrier');
      const [never, off, ended] = [newId(), newId(), newId()];
      await hear(client.account, never, client);
      expect(await verdictsOf(client, never)).toMatchObject([{ reason: 'no_subscription', cause: 'never_subscribed' }]);

      await switchedOff(client);
      await hear(client.account, off, client);
      await client.unsubscribe(ACTION);
      await hear(client.account, ended, client);

      // Later changes do not matter.
      await subscribeAt(client, `/${randomUUID()}`);
      expect(await verdictsOf(client, never)).toMatchObject([
        { cause: 'subscribed_later', cause_at: expect.any(String) },
      ]);
      expect(await verdictsOf(client, off)).toMatchObject([{ cause: 'switched_off', rule: 'exhausted' }]);
      expect(await verdictsOf(client, ended)).toMatchObject([{ cause: 'ended' }]);
    });
  });

  describe('a replay', () => {
    test('with include_suppressed sends what each notification would have been, byte for byte', async () => {
      const client = await stack.client('carrier');
      // Another client of the account, who had it all at once.
      const witness = await stack.clientOf(client.account, 'carrier', 'witness');
      const [witnessPath, path] = [`/${randomUUID()}`, `/${randomUUID()}`];
      const { path: brokenPath } = await switchedOff(client);
      const theirs = await subscribeAt(witness, witnessPath);
      const ids = [newId(), newId(), newId()];
      const [first, second, third] = ids as [number, number, number];
      const events = [await hear(client.account, first, witness), await hear(client.account, second, witness)];
      await client.unsubscribe(ACTION);
      events.push(await hear(client.account, third, witness));
      const current = await subscribeAt(client, path);

      const failed = { reason: 'http_5xx', count: 1 };
      const reasons = [{ reason: 'switched_off', count: 2 }, { reason: 'ended', count: 1 }, failed];
      await untilCounted(client, {}, { total: 1, reasons: [failed] });
      await untilCounted(client, { include_suppressed: true }, { total: 4, reasons });
      expect(await replay(client, { include_suppressed: true })).toMatchObject({ total: 4 });

      const requests = await receiver.untilReceived(path, 4);
      const notified = await receiver.untilReceived(witnessPath, 3);
      for (const event of events) {
        const [ours, was] = [messageGuid(event, current), messageGuid(event, theirs)];
        const sent = requests.find(({ headers }) => headers['webhook-id'] === ours);
        const wasSent = notified.find(({ headers }) => headers['webhook-id'] === was);
        expect(wasSent?.body).toContain('12345678901234567890');
        expect(sent?.body).toBe(wasSent?.body.replaceAll(was, ours));
        expect(sent?.headers['x-webhook-attempt']).toBe('1');
      }
      // Nor is anything sent to where it failed.
      expect(receiver.at(brokenPath)).toHaveLength(CARRIER_ATTEMPTS);
    });

    test('that has nothing to send says what there is instead', async () => {
      const client = await stack.client('carrier');
      expect(await replay(client, { dry_run: true })).toMatchObject({
        total: 0,
        explanation: `This client has never subscribed to ${ACTION}.`,
      });
      await hear(client.account, newId(), client);
      await subscribeAt(client, `/${randomUUID()}`);
      const without = {
        total: 0,
        explanation: expect.stringContaining('no subscription that was on there are 1: ask with include_suppressed'),
      };
      expect(await replay(client, {})).toMatchObject(without);
      expect(await replay(client, { include_suppressed: true })).toMatchObject({ total: 1 });
    });

    test('of the guid of any subscription of the client takes what each of them missed', async () => {
      const client = await stack.client('carrier');
      const { subscription } = await switchedOff(client);
      await client.unsubscribe(ACTION);
      const current = await subscribeAt(client, `/${randomUUID()}`);
      const one = { total: 1, reasons: [{ reason: 'http_5xx', count: 1 }] };
      for (const guid of [subscription, current, current.toUpperCase()])
        await untilCounted(client, { action: undefined, subscription_guid: guid }, one);
    });

    test('of a client has nothing of another', async () => {
      const client = await stack.client('carrier');
      const { subscription } = await switchedOff(client);
      const other = await stack.clientOf(client.account, 'carrier', 'other');
      await untilCounted(client, {}, { total: 1, reasons: [{ reason: 'http_5xx', count: 1 }] });
      expect(await replay(other, { dry_run: true })).toMatchObject({ total: 0 });
      const body = { subscription_guid: subscription, since: SINCE, dry_run: true };
      expect(await other.call('POST', '/v1/replays', body)).toMatchObject({ status: 404 });
    });
  });
}
