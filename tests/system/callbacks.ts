import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '@waybell/runtime/testing/until';
import { CARRIER_ATTEMPTS, CARRIER_DELAYS_MS, receiver, SHIPPER_ATTEMPTS, stack } from './stand.ts';

const attemptsAt = (path: string) => receiver.at(path).map(({ headers }) => headers['x-webhook-attempt']);
const upTo = (count: number) => Array.from({ length: count }, (_each, index) => `${index + 1}`);

export function callbacks(): void {
  describe('a carrier callback', () => {
    test('carries exactly action, guid, occurred_at and data', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/carrier'));
      await carrier.hear('order.created');
      const [request] = await receiver.untilReceived('/carrier', 1);
      expect(request?.body).toBe(
        `{"action":"order.created","guid":"${String(request?.headers['webhook-id'])}","occurred_at":"2026-11-20T09:30:00.123456+0000","data":{"id":4711,"status":"new"}}`,
      );
    });

    test('is signed with both secrets while the account rotates', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.picked_up', receiver.url('/signed'));
      const before = await carrier.signingSecrets();
      await carrier.hear('order.picked_up');
      await receiver.untilReceived('/signed', 1);
      const after = await carrier.signingSecrets('rotated');
      expect(after).toEqual([expect.any(String), ...before]);
      await carrier.hear('order.picked_up');
      for (const [index, request] of (await receiver.untilReceived('/signed', 2)).entries()) {
        const headers = request.headers as Record<string, string>;
        const secrets = [before, after][index] ?? [];
        expect(headers['webhook-signature']?.split(' ')).toHaveLength(secrets.length);
        for (const secret of secrets) new Webhook(secret).verify(request.body, headers);
      }
    });

    test('is made four times, never before its pause is over, and then the subscription is off', async () => {
      const carrier = await stack.client('carrier');
      receiver.answer('/dead', 500);
      await carrier.subscribe('order.delivered', receiver.url('/dead'));
      await carrier.hear('order.delivered');
      await until('the subscription is off', async () => {
        const { body } = await carrier.call('GET', '/v1/webhooks/order.delivered/subscriptions/');
        return Array.isArray(body) && body[0]?.is_active === false;
      });
      const requests = receiver.at('/dead');
      const gapsMs = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
      expect(gapsMs.filter((gapMs, index) => gapMs < (CARRIER_DELAYS_MS[index] ?? 0))).toEqual([]);
      expect(attemptsAt('/dead')).toEqual(upTo(CARRIER_ATTEMPTS));
      expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    });

    test('goes nowhere once the subscription was deleted', async () => {
      const [carrier, other] = [await stack.client('carrier'), await stack.client('carrier')];
      await carrier.subscribe('damage.created', receiver.url('/deleted'));
      expect((await carrier.call('DELETE', '/v1/webhooks/damage.created/subscriptions/')).status).toBe(204);
      await carrier.hear('damage.created');
      await other.subscribe('damage.created', receiver.url('/after-deleted'));
      await other.hear('damage.created');
      await receiver.untilReceived('/after-deleted', 1);
      expect(receiver.at('/deleted')).toEqual([]);
    });

    test('comes with the new token once its receiver subscribed again, while the old one is still being retried', async () => {
      const carrier = await stack.client('carrier');
      // It fails when the new subscription is there, however long that takes.
      const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
      receiver.answer('/old', (response) => void isReplaced.then(() => response.writeHead(500).end()));
      const oldToken = await carrier.subscribe('order.assigned', receiver.url('/old'));
      await carrier.hear('order.assigned');
      await receiver.untilReceived('/old', 1);
      await carrier.call('DELETE', '/v1/webhooks/order.assigned/subscriptions/');
      const newToken = await carrier.subscribe('order.assigned', receiver.url('/new'));
      replaced();
      await carrier.hear('order.assigned');
      const [request] = await receiver.untilReceived('/new', 1);
      expect(newToken).not.toBe(oldToken);
      expect(request?.headers['x-service-verification-token']).toBe(newToken);
      // The old delivery is dropped at its next turn: a further one comes to its third long after that.
      receiver.answer('/clock', 500);
      const clock = await stack.client('carrier');
      await clock.subscribe('order.assigned', receiver.url('/clock'));
      await clock.hear('order.assigned');
      await receiver.untilReceived('/clock', 3);
      expect(receiver.at('/old')).toHaveLength(1);
      const { body } = await carrier.call('GET', '/v1/webhooks/order.assigned/subscriptions/');
      expect(body).toMatchObject([{ is_active: true }]);
    });
  });

  describe('a shipper callback', () => {
    test('carries the common fields and the order, with milliseconds', async () => {
      const shipper = await stack.client('shipper');
      await shipper.subscribe('order.picked_up', receiver.url('/shipper'));
      const { payload } = await shipper.hear('order.picked_up');
      const [request] = await receiver.untilReceived('/shipper', 1);
      expect(request?.body).toBe(
        `{"action":"order.picked_up","action_date":"2026-11-20T09:30:00.123+0000","error_message":null,"order_guid":"${String(payload['order_guid'])}"}`,
      );
    });

    test('is made six times and does not switch the subscription off', async () => {
      const shipper = await stack.client('shipper');
      receiver.answer('/shipper-dead', 503);
      await shipper.subscribe('order.paid', receiver.url('/shipper-dead'));
      await shipper.hear('order.paid');
      await receiver.untilReceived('/shipper-dead', SHIPPER_ATTEMPTS);
      receiver.answer('/shipper-dead', 200);
      await shipper.hear('order.paid');
      await receiver.untilReceived('/shipper-dead', SHIPPER_ATTEMPTS + 1);
      expect(attemptsAt('/shipper-dead')).toEqual([...upTo(SHIPPER_ATTEMPTS), '1']);
    });

    test('reaches each client of the account', async () => {
      const first = await stack.client('shipper');
      const second = await stack.clientOf(first.account, 'shipper', 'second');
      await first.subscribe('order.booked', receiver.url('/first-client'));
      await second.subscribe('order.booked', receiver.url('/second-client'));
      await first.hear('order.booked');
      const [one] = await receiver.untilReceived('/first-client', 1);
      const [other] = await receiver.untilReceived('/second-client', 1);
      expect(one?.headers['webhook-id']).not.toBe(other?.headers['webhook-id']);
    });
  });
}
