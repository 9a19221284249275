import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { actions } from '@waybell/catalog/actions';
import { repository } from '@waybell/stack/stack-folder';
import { updateAccount } from '@waybell/subscription-api/accounts';
import { anEvent } from '../testing/event.ts';
import { aLocationReport } from '../testing/location-report.ts';
import { type Behaviour } from '../testing/receiver.ts';
import { ask, told, untilTold, type Timeline } from '../testing/told.ts';
import { curl, wordsFor } from '../testing/curl.ts';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { receiver, stack } from './stand.ts';

/** A client that is subscribed to an action, and an order that it is to hear of. */
async function subscribed(
  interfaceName: 'shipper' | 'carrier',
  { action = 'order.created', features = [], auditFields, behaviour = 200 }: Subscribed = {},
) {
  const client = await stack.client(interfaceName, features);
  const [path, order] = [`/${randomUUID()}`, randomUUID()];
  receiver.answer(path, behaviour);
  const example = actions.find((each) => each.interface === interfaceName && each.name === action)?.example;
  const token = await client.subscribe(action, receiver.url(path), auditFields);
  const event = (payload: Record<string, unknown> = {}) =>
    anEvent({
      interface: interfaceName,
      action,
      parties: { [interfaceName]: client.account },
      payload: { ...example, order_guid: order, ...payload },
    });
  return { client, path, order, token, event, hear: (payload = {}) => stack.upstream.publish(event(payload)) };
}
type Subscribed = { action?: string; features?: string[]; auditFields?: string[]; behaviour?: Behaviour };

/** Answers the first request with 500 when `release` is called, and all others at once. */
function failingLate() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const behaviour: Behaviour = (response) => void promise.then(() => response.writeHead(500).end());
  return { behaviour, release };
}

export function why(): void {
  describe('the timeline of an order', () => {
    test('tells of a delivery that got through at once', async () => {
      const us = await subscribed('carrier');
      await us.hear();
      await untilTold(us.client, us.order, ['delivered: delivered']);
    });

    test('tells of one that got through when it was tried again', async () => {
      const behaviour: Behaviour = (response, { headers }) =>
        response.writeHead(headers['x-webhook-attempt'] === '1' ? 503 : 200).end();
      const us = await subscribed('shipper', { behaviour });
      await us.hear();
      await untilTold(us.client, us.order, ['delivered: failed http_5xx, delivered']);
    });

    test('tells of one that was given up, which switched the subscription off, and of what comes after that', async () => {
      const us = await subscribed('carrier', { behaviour: 404 });
      await us.hear();
      const failed = 'failed http_4xx';
      const exhausted = `exhausted: ${failed}, ${failed}, ${failed}, exhausted http_4xx; switched off: exhausted`;
      await untilTold(us.client, us.order, [exhausted]);
      await us.hear();
      await untilTold(us.client, us.order, ['suppressed no_subscription', exhausted]);
    });

    test('tells of one that is on its way', async () => {
      const { behaviour, release } = failingLate();
      const us = await subscribed('carrier', { behaviour });
      await us.hear();
      await receiver.untilReceived(us.path, 1);
      await untilTold(us.client, us.order, ['waiting: ']);
      receiver.answer(us.path, 200);
      release();
      await untilTold(us.client, us.order, ['delivered: failed http_5xx, delivered']);
    });

    test('tells of one whose subscription was ended between two attempts', async () => {
      const { behaviour, release } = failingLate();
      const us = await subscribed('carrier', { behaviour });
      await us.hear();
      await receiver.untilReceived(us.path, 1);
      await us.client.call('DELETE', '/v1/webhooks/order.created/subscriptions/');
      release();
      await untilTold(us.client, us.order, ['dropped: failed http_5xx, dropped unsubscribed']);
    });

    test('tells of one whose feature was switched off between two attempts, and of what comes after that', async () => {
      const { behaviour, release } = failingLate();
      const us = await subscribed('shipper', { action: 'insurance.issued', features: ['insurance'], behaviour });
      await us.hear();
      await receiver.untilReceived(us.path, 1);
      await updateAccount(stack.postgres, { guid: us.client.account, removeFeatures: ['insurance'] });
      release();
      const dropped = 'dropped: failed http_5xx, dropped feature_off';
      await untilTold(us.client, us.order, [dropped]);
      await us.hear();
      await untilTold(us.client, us.order, ['suppressed feature_off', dropped]);
    });

    test('tells of one that was on its way when another switched the subscription off', async () => {
      const us = await subscribed('carrier');
      const hearOfAnother = () => us.hear({ order_guid: randomUUID() });
      // An address that answered once may have two requests under way.
      await hearOfAnother();
      await receiver.untilReceived(us.path, 1);
      const { behaviour, release } = failingLate();
      receiver.answer(us.path, behaviour);
      await us.hear();
      await receiver.untilReceived(us.path, 2);
      receiver.answer(us.path, 500);
      await hearOfAnother();
      await until('it is off', async () => {
        const subscriptions = await ask<{ is_active: boolean }[]>(
          us.client,
          '/v1/webhooks/order.created/subscriptions/',
        );
        return subscriptions.every(({ is_active }) => !is_active);
      });
      release();
      await untilTold(us.client, us.order, ['dropped: failed http_5xx, dropped deactivated']);
    });

    test('tells of an event that came twice', async () => {
      const us = await subscribed('carrier');
      const event = us.event();
      await stack.upstream.publish(event);
      await untilTold(us.client, us.order, ['delivered: delivered']);
      await stack.upstream.publish(event);
      await untilTold(us.client, us.order, ['suppressed duplicate', 'delivered: delivered']);
    });

    test('tells of documents whose links were missing', async () => {
      const us = await subscribed('shipper', { action: 'order.picked_up_bol' });
      await us.hear({ online_bol_url: null });
      await untilTold(us.client, us.order, ['suppressed links_missing']);
    });

    test('tells of a change that was none of the fields subscribed to', async () => {
      const us = await subscribed('shipper', { action: 'order.modified', auditFields: ['price'] });
      const revision = { guid: randomUUID(), user_guid: randomUUID(), before: { number: '1' }, after: { number: '2' } };
      await us.hear({ revision });
      await untilTold(us.client, us.order, ['suppressed no_audited_change']);
    });

    test('tells of a position that differed too little from the last', async () => {
      const us = await subscribed('shipper', { action: 'vehicle.driver_location_updated' });
      const report = {
        shipper: us.client.account,
        vehicles: { [us.order]: true },
        latitude: 52,
        longitude: 13,
        address: 'A',
      };
      const reportAt = (recordedAt: number) => stack.upstream.publish(aLocationReport({ ...report, recordedAt }));
      await reportAt(wallClockMs() - 10_000);
      await receiver.untilReceived(us.path, 1);
      await reportAt(wallClockMs() - 5_000);
      await until('it is told', async () => (await told(us.client, us.order))[0] === 'suppressed position_absorbed');
    });

    test('tells of an event that could not be read, and where it is wrong', async () => {
      const us = await subscribed('carrier');
      const event = { ...us.event(), occurred_at: 'yesterday' };
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from(JSON.stringify(event)), event.guid);
      await until('it is told', async () => (await told(us.client, us.order)).length === 1);
      const { objects } = await ask<Timeline>(us.client, `/v1/timeline/${us.order}`);
      expect(objects[0]?.verdicts).toMatchObject([
        {
          kind: 'rejected',
          detail: expect.stringContaining('/occurred_at'),
          remedy: expect.stringContaining('Upstream'),
        },
      ]);
    });

    test('tells each client of an account its own', async () => {
      const us = await subscribed('carrier');
      const other = await stack.clientOf(us.client.account, 'carrier', 'other');
      const stranger = await stack.client('carrier');
      await us.hear();
      await untilTold(us.client, us.order, ['delivered: delivered']);
      await untilTold(other, us.order, ['suppressed no_subscription']);
      await untilTold(stranger, us.order, []);
    });
  });

  type Detail = { request: { headers: Record<string, string>; url: string; body: string }; curl: string };

  describe('a delivery', () => {
    test('is shown as the receiver saw it, and the command sends the same again', async () => {
      const us = await subscribed('carrier');
      await us.hear({ note: "it's 5 € $HOME" });
      await untilTold(us.client, us.order, ['delivered: delivered']);
      const [first] = await receiver.untilReceived(us.path, 1);
      if (first === undefined) throw new Error('nothing was received');
      const { 'webhook-id': id, 'webhook-signature': signature } = first.headers;
      const shown = await ask<Detail>(us.client, `/v1/deliveries/${String(id)}`);
      const {
        host: _host,
        connection: _connection,
        'content-length': _length,
        'user-agent': _agent,
        ...sent
      } = first.headers;
      const masks = { 'x-service-verification-token': '***', 'webhook-signature': '***' };
      const timestamp = shown.request.headers['webhook-timestamp'];
      expect(shown.request).toMatchObject({ url: receiver.url(us.path), body: first.body });
      expect(shown.request.headers).toEqual({ ...sent, ...masks, 'webhook-timestamp': timestamp });
      // The log has milliseconds, whose seconds may differ from those of the clock by one.
      expect(Math.abs(Number(timestamp) - Number(sent['webhook-timestamp']))).toBeLessThanOrEqual(1);

      const secrets = { VERIFICATION_TOKEN: us.token, WEBHOOK_SIGNATURE: String(signature) };
      await curl(wordsFor('curl', shown.curl, secrets)[0] ?? []);
      const [, again] = await receiver.untilReceived(us.path, 2);
      expect(again?.headers).toMatchObject({ ...sent, 'webhook-timestamp': timestamp });
      expect(again?.body).toBe(first.body);
    });

    test('is found as the docs say', async () => {
      const us = await subscribed('carrier');
      await us.hear();
      await untilTold(us.client, us.order, ['delivered: delivered']);
      const [first] = await receiver.untilReceived(us.path, 1);
      const page = readFileSync(join(repository, 'docs', 'receiving.md'), 'utf8');
      const section = page.slice(page.indexOf('## Why did it not arrive?'), page.indexOf('## What you can rely on'));
      const commands = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, command = '']) => command).join('');
      const calls = wordsFor('curl', commands, {
        TOKEN: us.client.token,
        API_URL: stack.stack.addresses['API_URL'] ?? '',
        ORDER_GUID: us.order,
        WEBHOOK_ID: String(first?.headers['webhook-id']),
      });
      expect(calls).toHaveLength(4);
      for (const call of calls) {
        const response = await curl(call);
        expect([response.url, response.status, await response.json()]).toEqual([response.url, 200, expect.any(Object)]);
      }
    });
  });
}
