import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { anEvent } from '../testing/event.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([
    TestStack.start({ ...PATIENT, SHIPPER_RETRY_DELAYS: '200ms,200ms,200ms,200ms,200ms' }),
    Receiver.start(),
  ]);
});

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

describe('a carrier callback', () => {
  test('carries exactly action, guid, occurred_at and data, and the verification token', async () => {
    const carrier = await stack.client('carrier');
    const token = await carrier.subscribe('order.created', receiver.url('/carrier'));
    const event = anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: carrier.account } });
    await stack.upstream.publish(event);
    const [request] = await receiver.untilReceived('/carrier', 1);
    const { guid } = JSON.parse(request?.body ?? '');
    expect(request?.body).toBe(
      `{"action":"order.created","guid":"${guid}","occurred_at":"2026-11-20T09:30:00.123456+0000","data":{"id":4711,"status":"new"}}`,
    );
    expect(request?.headers).toMatchObject({
      'x-service-verification-token': token,
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': guid,
      'x-webhook-attempt': '1',
    });
    expect(request?.headers['user-agent']).toMatch(/^Waybell\/\d/);
  });

  test('is signed as Standard Webhooks says, and with both secrets while the account rotates', async () => {
    const carrier = await stack.client('carrier');
    await carrier.subscribe('order.picked_up', receiver.url('/signed'));
    const publish = () =>
      stack.upstream.publish(
        anEvent({ interface: 'carrier', action: 'order.picked_up', parties: { carrier: carrier.account } }),
      );
    const secretsOf = (body: unknown) => (body as { secret: string }[]).map(({ secret }) => secret);
    const [first = ''] = secretsOf((await carrier.call('GET', '/v1/signing-secrets')).body);
    await publish();
    const [before] = await receiver.untilReceived('/signed', 1);
    const rotated = secretsOf((await carrier.call('POST', '/v1/signing-secrets/rotate')).body);
    expect(rotated[1]).toBe(first);
    await publish();
    const [, after] = await receiver.untilReceived('/signed', 2);
    for (const [request, secrets] of [
      [before, [first]],
      [after, rotated],
    ] as const) {
      const headers = request?.headers as Record<string, string>;
      expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
      for (const secret of secrets) {
        expect(new Webhook(secret).verify(request?.body ?? '', headers)).toMatchObject({ action: 'order.picked_up' });
      }
    }
  });

  test('is made four times, 1, 2 and 4 s apart, and then the subscription is off', async () => {
    const carrier = await stack.client('carrier');
    receiver.answer('/dead', 500);
    await carrier.subscribe('order.delivered', receiver.url('/dead'));
    await stack.upstream.publish(
      anEvent({ interface: 'carrier', action: 'order.delivered', parties: { carrier: carrier.account }, payload: {} }),
    );
    const requests = await receiver.untilReceived('/dead', 4);
    const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    // Never early; how late is the machine's affair here.
    expect(gaps.map((gap, index) => gap >= 1_000 * 2 ** index)).toEqual([true, true, true]);
    expect(requests.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '4']);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await until('the subscription is off', async () => {
      const { body } = await carrier.call('GET', '/v1/webhooks/order.delivered/subscriptions/');
      return Array.isArray(body) && body[0]?.is_active === false;
    });
  });

  test('goes nowhere once the subscription was deleted', async () => {
    const carrier = await stack.client('carrier');
    await carrier.subscribe('damage.created', receiver.url('/deleted'));
    expect((await carrier.call('DELETE', '/v1/webhooks/damage.created/subscriptions/')).status).toBe(204);
    await stack.upstream.publish(
      anEvent({ interface: 'carrier', action: 'damage.created', parties: { carrier: carrier.account } }),
    );
    const marker = await stack.client('carrier');
    await marker.subscribe('damage.created', receiver.url('/after-deleted'));
    await stack.upstream.publish(
      anEvent({ interface: 'carrier', action: 'damage.created', parties: { carrier: marker.account } }),
    );
    await receiver.untilReceived('/after-deleted', 1);
    expect(receiver.at('/deleted')).toEqual([]);
  });

  test('comes with the new token once its receiver subscribed again, while the old one is still being retried', async () => {
    const carrier = await stack.client('carrier');
    // It fails when the new subscription is there, however long that takes.
    const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
    receiver.answer('/old', (response) => void isReplaced.then(() => response.writeHead(500).end()));
    const oldToken = await carrier.subscribe('order.assigned', receiver.url('/old'));
    const event = () =>
      anEvent({ interface: 'carrier', action: 'order.assigned', parties: { carrier: carrier.account }, payload: {} });
    await stack.upstream.publish(event());
    await receiver.untilReceived('/old', 1);
    await carrier.call('DELETE', '/v1/webhooks/order.assigned/subscriptions/');
    const newToken = await carrier.subscribe('order.assigned', receiver.url('/new'));
    replaced();
    await stack.upstream.publish(event());
    const [request] = await receiver.untilReceived('/new', 1);
    expect(newToken).not.toBe(oldToken);
    expect(request?.headers['x-service-verification-token']).toBe(newToken);
    // The old delivery is dropped at its next turn: a further one is exhausted long after that.
    receiver.answer('/clock', 500);
    const clock = await stack.client('carrier');
    await clock.subscribe('order.assigned', receiver.url('/clock'));
    await stack.upstream.publish(
      anEvent({ interface: 'carrier', action: 'order.assigned', parties: { carrier: clock.account }, payload: {} }),
    );
    await receiver.untilReceived('/clock', 3);
    expect(receiver.at('/old')).toHaveLength(1);
    const { body } = await carrier.call('GET', '/v1/webhooks/order.assigned/subscriptions/');
    expect(body).toMatchObject([{ is_active: true }]);
  });
});

describe('a shipper callback', () => {
  test('carries the common fields and the order, with milliseconds', async () => {
    const shipper = await stack.client('shipper');
    const token = await shipper.subscribe('order.picked_up', receiver.url('/shipper'));
    const event = anEvent({ interface: 'shipper', action: 'order.picked_up', parties: { shipper: shipper.account } });
    await stack.upstream.publish(event);
    const [request] = await receiver.untilReceived('/shipper', 1);
    expect(request?.body).toBe(
      `{"action":"order.picked_up","action_date":"2026-11-20T09:30:00.123+0000","error_message":null,"order_guid":"${String(event.payload['order_guid'])}"}`,
    );
    expect(request?.headers['x-service-verification-token']).toBe(token);
  });

  test('is made six times and does not switch the subscription off', async () => {
    const shipper = await stack.client('shipper');
    receiver.answer('/shipper-dead', 503);
    await shipper.subscribe('order.paid', receiver.url('/shipper-dead'));
    const event = () => anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } });
    await stack.upstream.publish(event());
    await receiver.untilReceived('/shipper-dead', 6);
    receiver.answer('/shipper-dead', 200);
    await stack.upstream.publish(event());
    const requests = await receiver.untilReceived('/shipper-dead', 7);
    expect(requests.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '4', '5', '6', '1']);
  });

  test('reaches each client of the account', async () => {
    const first = await stack.client('shipper');
    const second = await stack.clientOf(first.account, 'shipper', 'second');
    await first.subscribe('order.booked', receiver.url('/first-client'));
    await second.subscribe('order.booked', receiver.url('/second-client'));
    await stack.upstream.publish(
      anEvent({ interface: 'shipper', action: 'order.booked', parties: { shipper: first.account } }),
    );
    const [one] = await receiver.untilReceived('/first-client', 1);
    const [other] = await receiver.untilReceived('/second-client', 1);
    expect(one?.headers['webhook-id']).not.toBe(other?.headers['webhook-id']);
  });
});
