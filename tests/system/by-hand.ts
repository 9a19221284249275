import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { messageGuid } from '@waybell/notifications/notification';
import type { Client } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';
import { CARRIER_ATTEMPTS, receiver, settingsOf, stack } from './stand.ts';

type Answer = Record<string, unknown>;
const ask = async (client: Client, method: string, path: string, body?: unknown) => {
  const answer = await client.call(method, path, body);
  return { status: answer.status, body: answer.body as Answer };
};
const deliveryOf = async (client: Client, guid: string) => (await ask(client, 'GET', `/v1/deliveries/${guid}`)).body;
const untilIs = (client: Client, guid: string, status: string) =>
  until(`${guid} is ${status}`, async () => {
    const delivery = await deliveryOf(client, guid);
    return delivery['status'] === status && delivery;
  });

/** A client whose receiver fails, and deliveries that were given up. */
async function givenUp(count: number) {
  const client = await stack.client('carrier');
  const path = `/${randomUUID()}`;
  receiver.answer(path, 500);
  await client.subscribe('order.created', receiver.url(path));
  const subscription = await stack.subscriptionAt(receiver.url(path));
  const deliveries: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const event = await client.hear('order.created');
    deliveries.push(messageGuid(event.guid, subscription));
  }
  for (const delivery of deliveries) await untilIs(client, delivery, 'exhausted');
  return { client, path, subscription, deliveries };
}

export function byHand(): void {
  describe('sending by hand', () => {
    settingsOf('deactivator', () => ({ DEACTIVATE_ON_EXHAUSTED: 'none' }));

    test('sends a delivery again that was given up, as the next attempt, with the same guid and body', async () => {
      const { client, path, subscription, deliveries } = await givenUp(1);
      const [delivery = ''] = deliveries;
      receiver.answer(path, 200);
      const asked = await ask(client, 'POST', `/v1/deliveries/${delivery}/resend`);
      expect(asked).toEqual({
        status: 202,
        body: { delivery_guid: delivery, subscription_guid: subscription, attempt: CARRIER_ATTEMPTS + 1 },
      });
      const requests = await receiver.untilReceived(path, CARRIER_ATTEMPTS + 1);
      const [first, last] = [requests[0], requests.at(-1)];
      expect(last?.headers).toMatchObject({ 'webhook-id': delivery, 'x-webhook-attempt': '5' });
      expect(last?.body).toBe(first?.body);
      expect(await untilIs(client, delivery, 'delivered')).toMatchObject({
        attempts: [
          ...['failed', 'failed', 'failed', 'exhausted'].map((kind) => ({ kind })),
          { kind: 'delivered', attempt: 5, by_hand: 'resend' },
        ],
      });
    });

    test('gives a delivery that is sent again retries of its own', async () => {
      const { client, path, deliveries } = await givenUp(1);
      await ask(client, 'POST', `/v1/deliveries/${deliveries[0]}/resend`);
      const attempts = await receiver.untilReceived(path, 2 * CARRIER_ATTEMPTS);
      expect(attempts.map(({ headers }) => Number(headers['x-webhook-attempt']))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      await until('it is given up again', async () => {
        const { attempts: known } = await deliveryOf(client, String(deliveries[0]));
        return (
          (known as Answer[]).length === 2 * CARRIER_ATTEMPTS && (known as Answer[]).at(-1)?.['kind'] === 'exhausted'
        );
      });
    });

    test('counts what a subscription did not get, sends it all again and says how far that is', async () => {
      const { client, path, subscription, deliveries } = await givenUp(3);
      receiver.answer(path, 200);
      const request = { subscription_guid: subscription, since: '2026-11-20T00:00:00Z', per_second: 100 };
      expect(await ask(client, 'POST', '/v1/replays', { ...request, dry_run: true })).toEqual({
        status: 200,
        body: { total: 3, reasons: [{ reason: 'http_5xx', count: 3 }] },
      });
      const { status, body } = await ask(client, 'POST', '/v1/replays', request);
      // Some may have gone out before the answer was written.
      const begun = { total: 3, published: expect.any(Number), cancelled_at: null };
      expect({ status, body }).toMatchObject({ status: 202, body: begun });
      for (const delivery of deliveries) await untilIs(client, delivery, 'delivered');
      const next = (await ask(client, 'POST', '/v1/replays', request)).body;
      const listed = (await ask(client, 'GET', '/v1/replays')).body['objects'];
      expect(listed).toMatchObject([
        { guid: next['guid'], total: 0 },
        { guid: body['guid'], total: 3, action: 'order.created' },
      ]);
      // The note that they are published may follow their delivery.
      const replay = await until('all are noted as published', async () => {
        const { body: known } = await ask(client, 'GET', `/v1/replays/${String(body['guid'])}`);
        return known['published'] === 3 && known;
      });
      expect(replay).toMatchObject({ total: 3, published: 3, delivered: 3 });
      expect((await ask(client, 'DELETE', `/v1/replays/${String(body['guid'])}`)).body).toMatchObject({
        cancelled_at: expect.any(String),
      });
    });

    test.each([200, 503])('tries a subscription out and answers with what the receiver said: %p', async (said) => {
      const client = await stack.client('shipper');
      const path = `/${randomUUID()}`;
      receiver.answer(path, (response) => response.writeHead(said).end('as I said'));
      await client.subscribe('order.paid', receiver.url(path));
      const guid = await stack.subscriptionAt(receiver.url(path));
      const [secret = ''] = await client.signingSecrets();

      const { status, body } = await ask(client, 'POST', `/v1/subscriptions/${guid}/test`);
      const { object } = body['data'] as { object: Answer };
      expect({ status, object }).toMatchObject({
        status: 200,
        object: {
          status: said === 200 ? 'delivered' : 'exhausted',
          attempts: [{ by_hand: 'test', http_status: said, answer: 'as I said' }],
        },
      });
      const [request] = receiver.at(path);
      expect(request?.headers).toMatchObject({ 'x-webhook-test': 'true', 'webhook-id': object['guid'] });
      // The oracle of the standard.
      new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
      expect(JSON.parse(request?.body ?? '')).toMatchObject({ action: 'order.paid' });
      expect(receiver.at(path)).toHaveLength(1);
    });

    test.each([
      ['POST', '/v1/deliveries/5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11/resend', undefined, 404],
      ['POST', '/v1/deliveries/none/resend', undefined, 422],
      ['POST', '/v1/subscriptions/5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11/test', undefined, 404],
      ['GET', '/v1/replays/5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11', undefined, 404],
      ['POST', '/v1/replays', { subscription_guid: 'x', since: 'yesterday', per_second: 0, dry_run: 1, at: 2 }, 422],
      [
        'POST',
        '/v1/replays',
        { subscription_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11', since: '2026-11-20T00:00:00Z' },
        404,
      ],
    ])('%s %s is refused where there is nothing to it', async (method, path, body, status) => {
      const client = await stack.client('carrier');
      expect(await ask(client, method, path, body)).toMatchObject({ status });
    });
  });
}
